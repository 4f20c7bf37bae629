import java.io.FileReader;
import java.io.Reader;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.kafka.connect.connector.policy.AllConnectorClientConfigOverridePolicy;
import org.apache.kafka.connect.mirror.MirrorMakerConfig;
import org.apache.kafka.connect.mirror.MirrorSourceConnector;
import org.apache.kafka.connect.mirror.SourceAndTarget;
import org.apache.kafka.connect.runtime.ConnectorConfig;
import org.apache.kafka.connect.runtime.Worker;
import org.apache.kafka.connect.runtime.distributed.DistributedConfig;
import org.apache.kafka.connect.runtime.isolation.Plugins;
import org.apache.kafka.connect.util.ConnectorTaskId;

/**
 * Prints, for each properties file of a folder, the maps that Kafka's own classes make of it, as one line of JSON.
 *
 * A map that Kafka refuses to make is left out, and the reason is in "refused".
 */
public final class EffectiveMaps {
    private static final String MIRROR = "org.apache.kafka.connect.mirror.";
    /** Makes Kafka look for plug-ins in service files only, since 3.6; searching all jars takes a second for each file. */
    private static final Map<String, String> QUICK = Map.of("plugin.discovery", "service_load");
    private static final Plugins PLUGINS = new Plugins(QUICK);
    /** For each connector, the methods that make configurations of clients, with the client's role as argument. */
    private static final Map<String, String[][]> CLIENTS = Map.of(
        "Source", new String[][] {
            {"sourceConsumerConfig", "replication-consumer"},
            {"sourceAdminConfig", "replication-source-admin"},
            {"targetAdminConfig", "replication-target-admin"},
            {"offsetSyncsTopicProducerConfig", "", "sourceProducerConfig"},
            {"offsetSyncsTopicAdminConfig", "", "sourceAdminConfig"},
        },
        "Checkpoint", new String[][] {
            {"sourceAdminConfig", "checkpoint-source-admin"},
            {"targetAdminConfig", "checkpoint-target-admin"},
            {"offsetSyncsTopicConsumerConfig", "", "sourceConsumerConfig"},
            {"targetConsumerConfig", "checkpoints-target-consumer", "none"},
        },
        "Heartbeat", new String[][] {{"targetAdminConfig", "heartbeats-target-admin"}});

    private final Map<String, Object> maps = new TreeMap<>();
    private final List<String> refused = new ArrayList<>();

    public static void main(String[] arguments) throws Exception {
        ObjectMapper json = new ObjectMapper();
        for (Path path : sorted(Path.of(arguments[0]))) {
            Map<String, Object> line = new TreeMap<>(new EffectiveMaps().of(path));
            line.put("file", path.getFileName().toString());
            System.out.println(json.writeValueAsString(line));
        }
    }

    private static List<Path> sorted(Path folder) throws Exception {
        try (Stream<Path> files = Files.list(folder)) {
            return files.sorted(Comparator.comparing(Path::toString)).collect(Collectors.toList());
        }
    }

    private Map<String, Object> of(Path path) throws Exception {
        Properties properties = new Properties();
        try (Reader reader = new FileReader(path.toFile())) {
            properties.load(reader);
        }
        Map<String, String> given = new HashMap<>(QUICK);
        properties.stringPropertyNames().forEach(name -> given.put(name, properties.getProperty(name)));
        make("file", () -> {
            MirrorMakerConfig config = (MirrorMakerConfig) MirrorMakerConfig.class.getConstructors()[0].newInstance(given);
            for (SourceAndTarget pair : config.clusterPairs()) {
                ofPair(config, pair);
            }
            return null;
        });
        return Map.of("maps", maps, "refused", refused);
    }

    private void ofPair(MirrorMakerConfig config, SourceAndTarget pair) throws Exception {
        Map<String, String> worker = strings(call(config, "workerConfig", pair));
        put(pair + " worker", worker);
        for (String kind : CLIENTS.keySet()) {
            Class<?> connector = Class.forName(MIRROR + "Mirror" + kind + "Connector");
            Map<String, String> own = strings(call(config, "connectorBaseConfig", pair, connector));
            put(pair + " " + kind, own);
            make(pair + " " + kind + " clients", () -> {
                Constructor<?> constructor = configOf(kind).getDeclaredConstructor(Map.class);
                constructor.setAccessible(true);
                Object made = constructor.newInstance(own);
                for (String[] client : CLIENTS.get(kind)) {
                    ofClient(pair + " " + kind + " ", made, client);
                }
                return null;
            });
            make(pair + " " + kind + " producer", () -> {
                put(pair + " " + kind + " producer", producer(worker, own, connector));
                return null;
            });
        }
    }

    private static Class<?> configOf(String kind) throws ClassNotFoundException {
        try {
            return Class.forName(MIRROR + "Mirror" + kind + "Config");
        } catch (ClassNotFoundException missing) {
            return Class.forName(MIRROR + "MirrorConnectorConfig");
        }
    }

    /** Calls a method for a client, or else the method that older versions use for it. */
    private void ofClient(String place, Object made, String[] client) throws Exception {
        for (int name = 0; name < client.length; name += 2) {
            Method method = method(made.getClass(), client[name]);
            if (method != null) {
                Object[] arguments = method.getParameterCount() == 0 ? new Object[0] : new Object[] {client[1]};
                put(place + client[0], strings(method.invoke(made, arguments)));
                return;
            }
        }
    }

    /** Returns the configuration of the producer that writes a connector's records. */
    private Map<String, String> producer(Map<String, String> worker, Map<String, String> own, Class<?> connector)
            throws Exception {
        List<Object> known = List.of(
            new DistributedConfig(worker), new ConnectorConfig(PLUGINS, own), connector,
            new AllConnectorClientConfigOverridePolicy(), new ConnectorTaskId("text", 0));
        boolean isExactlyOnce = "enabled".equalsIgnoreCase(worker.getOrDefault("exactly.once.source.support", "").trim());
        Method method = Stream.of("exactlyOnceSourceTaskProducerConfigs", "baseProducerConfigs", "producerConfigs")
            .skip(isExactlyOnce ? 0 : 1)
            .map(name -> method(Worker.class, name))
            .filter(Objects::nonNull)
            .findFirst().orElseThrow();
        Object[] arguments = new Object[method.getParameterCount()];
        for (int at = 0; at < arguments.length; at++) {
            Class<?> type = method.getParameterTypes()[at];
            arguments[at] = type == String.class ? "text"
                : known.stream().filter(type::isInstance).findFirst().orElse(null);
        }
        return strings(method.invoke(null, arguments));
    }

    private static Object call(Object on, String name, Object... arguments) throws Exception {
        return method(on.getClass(), name).invoke(on, arguments);
    }

    private static Method method(Class<?> of, String name) {
        for (Class<?> each = of; each != null; each = each.getSuperclass()) {
            for (Method method : each.getDeclaredMethods()) {
                if (method.getName().equals(name) && (method.getParameterCount() != 1 || !Map.class.equals(method.getParameterTypes()[0]))) {
                    method.setAccessible(true);
                    return method;
                }
            }
        }
        return null;
    }

    private interface Making {
        Object make() throws Exception;
    }

    private void make(String place, Making making) {
        try {
            making.make();
        } catch (Exception error) {
            Throwable cause = error instanceof InvocationTargetException ? error.getCause() : error;
            refused.add(place + ": " + cause.getClass().getSimpleName() + ": " + cause.getMessage());
        }
    }

    private void put(String place, Map<String, String> map) {
        map.keySet().removeIf(key -> key.startsWith("metrics.context."));
        maps.put(place, new TreeMap<>(map));
    }

    @SuppressWarnings("unchecked")
    private static Map<String, String> strings(Object map) {
        Map<String, String> strings = new HashMap<>();
        ((Map<String, Object>) map).forEach((key, value) -> strings.put(key, String.valueOf(value)));
        return strings;
    }
}
