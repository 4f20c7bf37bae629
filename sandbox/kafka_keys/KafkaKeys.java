import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import org.apache.kafka.common.config.ConfigDef;

/**
 * Prints one line for each configuration key of the Kafka on the class path: role, key, type, default, with tabs.
 * With the argument `clients` the roles of MirrorMaker are left out.
 */
public final class KafkaKeys {
    private static final String MIRROR = "org.apache.kafka.connect.mirror.";
    private static final String CLIENTS = "org.apache.kafka.clients.";
    /** For each role, the classes that may hold its definition; the first that exists is used. */
    private static final Map<String, List<String>> ROLES = new LinkedHashMap<>();

    static {
        ROLES.put("mirror_maker", List.of(MIRROR + "MirrorMakerConfig"));
        ROLES.put("mirror_client", List.of(MIRROR + "MirrorClientConfig"));
        for (String kind : List.of("Source", "Checkpoint", "Heartbeat")) {
            List<String> classes = List.of(MIRROR + "Mirror" + kind + "Config", MIRROR + "MirrorConnectorConfig");
            ROLES.put("mirror_" + kind.toLowerCase(), classes);
        }
        ROLES.put("topic_filter", List.of(MIRROR + "DefaultTopicFilter$TopicFilterConfig"));
        ROLES.put("group_filter", List.of(MIRROR + "DefaultGroupFilter$GroupFilterConfig"));
        ROLES.put("config_property_filter", List.of(MIRROR + "DefaultConfigPropertyFilter$ConfigPropertyFilterConfig"));
        ROLES.put("connect_worker", List.of("org.apache.kafka.connect.runtime.distributed.DistributedConfig"));
        ROLES.put("consumer", List.of(CLIENTS + "consumer.ConsumerConfig"));
        ROLES.put("producer", List.of(CLIENTS + "producer.ProducerConfig"));
        ROLES.put("admin", List.of(CLIENTS + "admin.AdminClientConfig"));
    }

    public static void main(String[] arguments) throws Exception {
        boolean onlyClients = List.of(arguments).contains("clients");
        for (Map.Entry<String, List<String>> role : ROLES.entrySet()) {
            if (onlyClients && role.getValue().get(0).startsWith(MIRROR)) {
                continue;
            }
            Map<String, ConfigDef.ConfigKey> keys = new LinkedHashMap<>();
            for (ConfigDef definition : definitions(firstThatExists(role.getValue()))) {
                keys.putAll(definition.configKeys());
            }
            if (keys.isEmpty()) {
                throw new IllegalStateException("no keys for " + role.getKey());
            }
            keys.values().forEach(key -> System.out.println(line(role.getKey(), key)));
        }
    }

    private static Class<?> firstThatExists(List<String> names) throws ClassNotFoundException {
        for (String name : names) {
            try {
                Class<?> found = Class.forName(name);
                if (!definitions(found).isEmpty()) {
                    return found;
                }
            } catch (ClassNotFoundException missing) {
                // The next name is that of other versions.
            }
        }
        throw new ClassNotFoundException(String.join(", ", names));
    }

    /** Returns the definitions that a class holds in static fields, or else makes in a static method. */
    private static List<ConfigDef> definitions(Class<?> holder) throws ClassNotFoundException {
        List<ConfigDef> fields = java.util.Arrays.stream(holder.getDeclaredFields())
            .filter(field -> Modifier.isStatic(field.getModifiers()) && field.getType() == ConfigDef.class)
            .filter(field -> !field.getName().contains("TASK"))
            .map(KafkaKeys::read)
            .collect(Collectors.toList());
        return fields.isEmpty() ? made(holder) : fields;
    }

    private static List<ConfigDef> made(Class<?> holder) {
        return java.util.Arrays.stream(holder.getDeclaredMethods())
            .filter(method -> Modifier.isStatic(method.getModifiers()) && method.getReturnType() == ConfigDef.class)
            .filter(method -> method.getName().equals("config") || method.getName().equals("configDef"))
            .map(KafkaKeys::call)
            .collect(Collectors.toList());
    }

    private static ConfigDef read(Field field) {
        try {
            opened(field);
            return (ConfigDef) field.get(null);
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
    }

    /** Calls a method without parameters, or with the constant SYSTEM of its only parameter's type. */
    private static ConfigDef call(Method method) {
        try {
            opened(method);
            if (method.getParameterCount() == 0) {
                return (ConfigDef) method.invoke(null);
            }
            Field system = method.getParameterTypes()[0].getDeclaredField("SYSTEM");
            opened(system);
            return (ConfigDef) method.invoke(null, system.get(null));
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
    }

    private static void opened(AccessibleObject member) {
        member.setAccessible(true);
    }

    private static String line(String role, ConfigDef.ConfigKey key) {
        String text = key.hasDefault() ? text(key.defaultValue) : "";
        String state = !key.hasDefault() ? "required" : key.defaultValue == null ? "null" : "given";
        return String.join("\t", role, key.name, key.type.name(), state, text.replaceAll("\\s+", " "));
    }

    private static String text(Object value) {
        if (value instanceof Class) {
            return ((Class<?>) value).getName();
        }
        if (value instanceof List) {
            return ((List<?>) value).stream().map(KafkaKeys::text).collect(Collectors.joining(","));
        }
        return String.valueOf(value);
    }
}
