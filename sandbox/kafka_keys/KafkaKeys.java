import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.LongPredicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.apache.kafka.common.config.ConfigDef;

/**
 * Prints one line for each configuration key of the Kafka on the class path: role, key, type, whether it has a default,
 * the default, and what its validator accepts, with tabs.
 * With the argument `clients` the roles of MirrorMaker are left out.
 */
public final class KafkaKeys {
    private static final String MIRROR = "org.apache.kafka.connect.mirror.";
    private static final String CLIENTS = "org.apache.kafka.clients.";
    /** A text that is among the words of no key. */
    private static final String OTHER = "no.word";
    /** A word that a validator describes instead of naming it. */
    private static final String DURATION = "by_duration:PT1S";
    private static final String CONNECT = "org.apache.kafka.connect.runtime.";
    /** For each role, the classes that may hold its definition; the first that exists is used. */
    private static final Map<String, List<String>> ROLES = new LinkedHashMap<>();
    /** For each of some roles, the class whose keys are left out, because all connectors have them. */
    private static final Map<String, String> WITHOUT = Map.of("connect_source", CONNECT + "ConnectorConfig");

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
        ROLES.put("connect_worker", List.of(CONNECT + "distributed.DistributedConfig"));
        ROLES.put("connect_source", List.of(CONNECT + "SourceConnectorConfig"));
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
            if (WITHOUT.containsKey(role.getKey())) {
                for (ConfigDef definition : definitions(Class.forName(WITHOUT.get(role.getKey())))) {
                    keys.keySet().removeAll(definition.names());
                }
            }
            if (keys.isEmpty() && !WITHOUT.containsKey(role.getKey())) {
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
            .filter(method -> method.getParameterCount() == 0 || hasSystem(method.getParameterTypes()[0]))
            .map(KafkaKeys::call)
            .collect(Collectors.toList());
    }

    private static boolean hasSystem(Class<?> type) {
        return java.util.Arrays.stream(type.getDeclaredFields()).anyMatch(field -> field.getName().equals("SYSTEM"));
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
        return String.join("\t", role, key.name, key.type.name(), state, text.replaceAll("\\s+", " "), accepted(key));
    }

    /**
     * Returns what the validator of a key accepts, found by asking it: `min=1;max=9;also=-1`, `words=a|b`,
     * `anycase`, `nonempty`, `distinct`, `noblank`. Empty if it accepts everything, or if the answer cannot be found.
     */
    private static String accepted(ConfigDef.ConfigKey key) {
        if (key.validator == null) {
            return "";
        }
        switch (key.type) {
            case SHORT:
                return range(key, Short.MIN_VALUE, Short.MAX_VALUE);
            case INT:
                return range(key, Integer.MIN_VALUE, Integer.MAX_VALUE);
            case LONG:
                return range(key, Long.MIN_VALUE, Long.MAX_VALUE);
            case DOUBLE:
                return joined(limit(key, "min"), limit(key, "max"));
            case STRING:
            case LIST:
                return joined(words(key), empty(key), distinct(key));
            default:
                return "";
        }
    }

    private static String joined(String... parts) {
        return Stream.of(parts).filter(part -> !part.isEmpty()).collect(Collectors.joining(";"));
    }

    /** Returns the bounds of the accepted numbers, between which all are accepted. */
    private static String range(ConfigDef.ConfigKey key, long lowest, long highest) {
        LongPredicate accepts = number -> accepts(key, boxed(key.type, number));
        Stream<Long> given = key.hasDefault() && key.defaultValue != null
            ? Stream.of(((Number) key.defaultValue).longValue()) : Stream.empty();
        java.util.Optional<Long> start = Stream.concat(given, Stream.of(1L, 0L, 100L, 1000L, 10_000L))
            .filter(accepts::test).findFirst();
        if (!start.isPresent()) {
            return "";
        }
        // A replication factor is -1 or at least 1.
        boolean hasGap = start.get() > 0 && !accepts.test(0L) && accepts.test(-1L);
        String least = accepts.test(lowest) ? "" : "min=" + edge(accepts, start.get(), hasGap ? 0 : lowest);
        String most = accepts.test(highest) ? "" : "max=" + edge(accepts, start.get(), highest);
        return joined(least, most, hasGap ? "also=-1" : "");
    }

    /** Returns the last accepted number on the way from an accepted one to a refused one. */
    private static long edge(LongPredicate accepts, long accepted, long refused) {
        while (true) {
            long middle = accepted / 2 + refused / 2 + (accepted % 2 + refused % 2) / 2;
            if (middle == accepted || middle == refused) {
                return accepted;
            }
            if (accepts.test(middle)) {
                accepted = middle;
            } else {
                refused = middle;
            }
        }
    }

    private static Object boxed(ConfigDef.Type type, long number) {
        if (type == ConfigDef.Type.LONG) {
            return number;
        }
        return type == ConfigDef.Type.INT ? (Object) (int) number : (Object) (short) number;
    }

    /** Returns a bound of a range of numbers that are not whole. */
    private static String limit(ConfigDef.ConfigKey key, String name) {
        try {
            Field field = ConfigDef.Range.class.getDeclaredField(name);
            opened(field);
            Object found = key.validator instanceof ConfigDef.Range ? field.get(key.validator) : null;
            return found == null ? "" : name + "=" + found;
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
    }

    /** Returns the accepted words: those that the validator names in brackets, if it refuses others. */
    private static String words(ConfigDef.ConfigKey key) {
        String text = String.valueOf(key.validator);
        int start = text.indexOf('['), end = text.lastIndexOf(']');
        if (accepts(key, listed(key, OTHER)) || start < 0 || end < start) {
            return "";
        }
        Stream<String> named = Stream.of(text.substring(start + 1, end).split("[\\s,\\[\\]]+"));
        List<String> words = Stream.concat(named, Stream.of(DURATION))
            .filter(word -> !word.isEmpty() && accepts(key, listed(key, word))).distinct().sorted()
            .collect(Collectors.toList());
        boolean isAnyCase = words.stream().allMatch(
            word -> accepts(key, listed(key, word.toUpperCase(Locale.ROOT)))
                && accepts(key, listed(key, word.toLowerCase(Locale.ROOT))));
        return words.isEmpty() ? "" : "words=" + String.join("|", words) + (isAnyCase ? ";anycase" : "");
    }

    private static String empty(ConfigDef.ConfigKey key) {
        Object nothing = key.type == ConfigDef.Type.LIST ? List.of() : "";
        return accepts(key, listed(key, OTHER)) && !accepts(key, nothing) ? "nonempty" : "";
    }

    private static String distinct(ConfigDef.ConfigKey key) {
        if (key.type != ConfigDef.Type.LIST || !accepts(key, List.of(OTHER))) {
            return "";
        }
        String blank = accepts(key, List.of(OTHER, "")) ? "" : "noblank";
        return joined(accepts(key, List.of(OTHER, OTHER)) ? "" : "distinct", blank);
    }

    private static Object listed(ConfigDef.ConfigKey key, String word) {
        return key.type == ConfigDef.Type.LIST ? List.of(word) : word;
    }

    private static boolean accepts(ConfigDef.ConfigKey key, Object value) {
        try {
            key.validator.ensureValid(key.name, value);
            return true;
        } catch (RuntimeException refused) {
            return false;
        }
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
