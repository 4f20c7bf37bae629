import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.io.Reader;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongFunction;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.DescribeClientQuotasOptions;
import org.apache.kafka.clients.admin.DescribeClusterOptions;
import org.apache.kafka.clients.admin.DescribeConfigsOptions;
import org.apache.kafka.clients.admin.DescribeLogDirsOptions;
import org.apache.kafka.clients.admin.DescribeMetadataQuorumOptions;
import org.apache.kafka.clients.admin.LogDirDescription;
import org.apache.kafka.clients.admin.QuorumInfo;
import org.apache.kafka.clients.admin.ReplicaInfo;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.apache.kafka.common.quota.ClientQuotaFilter;

/**
 * Asks both clusters of a migration what only a client on this host can find out, and prints one JSON document.
 *
 * <p>{@code mirrorctl} runs it with the client libraries of the host's Kafka (3.8 to 4.2, Java 8 or newer). Its
 * argument is a folder with {@code secrets/source.properties}, {@code secrets/target.properties} and {@code topics},
 * which limits the sizes to these topics. The document has, per side and question, an exit: {@code 0} with an output,
 * {@code 1} with errors, {@code timeout}, or {@code large} if the output is too large to be printed.
 *
 * <p>Each question has a thread and a deadline of its own, so one without an answer delays no other. With an older
 * Kafka, only the questions that its client does not have remain without an answer.
 */
public final class ClusterProbe {
    // The list of the brokers and each question end within this time, which is that of Kafka's own tools. A request to
    // one broker ends earlier, so that another broker can still be asked.
    private static final int ANSWER_MS = 60_000;
    private static final int REQUEST_MS = 20_000;
    // All ends before mirrorctl ends the program.
    private static final int ALL_MS = 110_000;
    // Both clusters together have less than the 4 MiB that mirrorctl returns.
    private static final int SIDE_LETTERS_MAX = 2_000_000;
    private static final int ERROR_LETTERS_MAX = 2_000;
    // The first requests also connect and load classes; the shortest one counts.
    private static final int TRIPS = 10;

    private final Set<String> topics;
    private final FutureTask<Admin> admin;
    private final FutureTask<Collection<Node>> nodes;
    private final Map<String, FutureTask<String>> answers = new LinkedHashMap<>();

    private ClusterProbe(Properties settings, Set<String> topics) {
        this.topics = topics;
        admin = new FutureTask<>(() -> Admin.create(settings));
        DescribeClusterOptions options = new DescribeClusterOptions().timeoutMs(ANSWER_MS);
        nodes = new FutureTask<>(() -> admin().describeCluster(options).nodes().get());
        answers.put("brokers", new FutureTask<>(this::brokers));
        answers.put("clock", new FutureTask<>(this::clock));
        answers.put("quotas", new FutureTask<>(this::quotas));
        answers.put("round_trip", new FutureTask<>(this::roundTrip));
        answers.put("space", new FutureTask<>(this::space));
    }

    public static void main(String[] words) throws Exception {
        PrintStream output = System.out;
        // Kafka's clients log to the standard output.
        System.setOut(System.err);
        Path folder = Paths.get(words[0]);
        Set<String> topics = new HashSet<>(Files.readAllLines(folder.resolve("topics"), StandardCharsets.UTF_8));
        Map<String, LongFunction<String>> sides = new LinkedHashMap<>();
        for (String side : new String[] {"source", "target"}) {
            Properties settings = settings(folder, side);
            String login = settings.getProperty("sasl.jaas.config", "");
            sides.put(side, login.contains("Krb5LoginModule") ? askApart(settings, topics) : ask(settings, topics));
        }
        long end = System.currentTimeMillis() + ALL_MS;
        Map<String, String> found = new LinkedHashMap<>();
        sides.forEach((side, answers) -> found.put(side, answers.apply(end)));
        output.println(object(found));
        output.flush();
        // A client that waits for a broker would delay the end.
        Runtime.getRuntime().halt(0);
    }

    private static Properties settings(Path folder, String side) throws IOException {
        Properties settings = new Properties();
        Path file = folder.resolve("secrets").resolve(side + ".properties");
        try (Reader reader = Files.newBufferedReader(file, StandardCharsets.ISO_8859_1)) {
            settings.load(reader);
        }
        settings.setProperty("request.timeout.ms", String.valueOf(REQUEST_MS));
        settings.setProperty("default.api.timeout.ms", String.valueOf(ANSWER_MS));
        settings.setProperty("sasl.login.connect.timeout.ms", "10000");
        settings.setProperty("sasl.login.read.timeout.ms", "10000");
        // Metrics would only take time.
        settings.setProperty("auto.include.jmx.reporter", "false");
        settings.setProperty("metric.reporters", "");
        settings.setProperty("enable.metrics.push", "false");
        // Clients with equal texts share one login in a process, also if its token is from another address.
        String blanks = side.equals("source") ? " required " : " required  ";
        settings.computeIfPresent(
                "sasl.jaas.config", (name, login) -> login.toString().replaceFirst(" required ", blanks));
        return settings;
    }

    /** Ask a cluster with Kafka's classes loaded again: its logins wait for each other, and Kerberos may take minutes. */
    @SuppressWarnings("unchecked")
    private static LongFunction<String> askApart(Properties settings, Set<String> topics) throws Exception {
        List<URL> places = new ArrayList<>();
        for (String place : System.getProperty("java.class.path").split(File.pathSeparator)) {
            places.add(Paths.get(place).toUri().toURL());
        }
        ClassLoader common = ClassLoader.getSystemClassLoader();
        ClassLoader apart = new URLClassLoader(places.toArray(new URL[0]), common.getParent());
        Thread thread = Thread.currentThread();
        thread.setContextClassLoader(apart);
        try {
            return (LongFunction<String>) apart.loadClass(ClusterProbe.class.getName())
                    .getMethod("ask", Properties.class, Set.class)
                    .invoke(null, settings, topics);
        } finally {
            thread.setContextClassLoader(common);
        }
    }

    /** Ask a cluster all questions; the result waits for the answers until an end in milliseconds. */
    public static LongFunction<String> ask(Properties settings, Set<String> topics) {
        ClusterProbe probe = new ClusterProbe(settings, topics);
        start(probe.admin);
        start(probe.nodes);
        probe.answers.values().forEach(ClusterProbe::start);
        return probe::found;
    }

    private static void start(Runnable task) {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        thread.start();
    }

    private String found(long end) {
        Map<String, String> found = new LinkedHashMap<>();
        int left = SIDE_LETTERS_MAX;
        for (Map.Entry<String, FutureTask<String>> each : answers.entrySet()) {
            String result = result(each.getValue(), end, left);
            left -= result.length();
            found.put(each.getKey(), result);
        }
        return object(found);
    }

    private static String result(FutureTask<String> answer, long end, int letters) {
        Map<String, String> result = new LinkedHashMap<>();
        try {
            String output = answer.get(Math.max(0, end - System.currentTimeMillis()), TimeUnit.MILLISECONDS);
            result.put("exit", text(output.length() > letters ? "large" : "0"));
            if (output.length() <= letters) {
                result.put("output", output);
            }
        } catch (ExecutionException failed) {
            // Of the login; Kafka's own class has the same name.
            boolean isLate = cause(failed) instanceof TimeoutException;
            result.put("exit", text(isLate ? "timeout" : "1"));
            result.put("errors", text(errors(failed)));
        } catch (TimeoutException | InterruptedException late) {
            result.put("exit", text("timeout"));
        }
        return object(result);
    }

    private Admin admin() throws Exception {
        return admin.get(ALL_MS, TimeUnit.MILLISECONDS);
    }

    private Collection<Node> nodes() throws Exception {
        return nodes.get(ALL_MS, TimeUnit.MILLISECONDS);
    }

    /** Each broker's address, with why it did not answer; empty if it did. A refusal of the broker is an answer. */
    private String brokers() throws Exception {
        Map<String, ConfigResource> addresses = new LinkedHashMap<>();
        for (Node node : nodes()) {
            ConfigResource broker = new ConfigResource(ConfigResource.Type.BROKER, node.idString());
            addresses.put(node.host() + ":" + node.port(), broker);
        }
        DescribeConfigsOptions options = new DescribeConfigsOptions().timeoutMs(ANSWER_MS);
        Map<ConfigResource, KafkaFuture<Config>> asked =
                admin().describeConfigs(addresses.values(), options).values();
        Map<String, String> answered = new LinkedHashMap<>();
        for (Map.Entry<String, ConfigResource> each : addresses.entrySet()) {
            answered.put(each.getKey(), text(silence(asked.get(each.getValue()))));
        }
        return object(answered);
    }

    private static String silence(KafkaFuture<Config> asked) throws InterruptedException {
        try {
            asked.get();
        } catch (ExecutionException failed) {
            Throwable error = cause(failed);
            boolean isAnswer = error instanceof ApiException
                    && !(error instanceof RetriableException)
                    && !(error instanceof AuthenticationException);
            return isAnswer ? "" : errors(failed);
        }
        return "";
    }

    /** The time of the active controller, which is that of its own last fetch, between two times of this host. */
    private String clock() throws Exception {
        Admin admin = admin();
        DescribeMetadataQuorumOptions options = new DescribeMetadataQuorumOptions().timeoutMs(ANSWER_MS);
        long before = System.currentTimeMillis();
        QuorumInfo quorum = admin.describeMetadataQuorum(options).quorumInfo().get();
        Map<String, String> clock = new LinkedHashMap<>();
        clock.put("before", String.valueOf(before));
        clock.put("after", String.valueOf(System.currentTimeMillis()));
        for (QuorumInfo.ReplicaState voter : quorum.voters()) {
            if (voter.replicaId() == quorum.leaderId()) {
                clock.put("shown", String.valueOf(voter.lastFetchTimestamp().orElse(0)));
            }
        }
        return object(clock);
    }

    /** The shortest time between a small request and its answer, in microseconds. */
    private String roundTrip() throws Exception {
        DescribeClusterOptions options = new DescribeClusterOptions().timeoutMs(ANSWER_MS);
        long shortest = Long.MAX_VALUE;
        for (int trip = 0; trip < TRIPS; trip++) {
            long before = System.nanoTime();
            admin().describeCluster(options).clusterId().get();
            shortest = Math.min(shortest, System.nanoTime() - before);
        }
        return String.valueOf(shortest / 1_000);
    }

    /** The quotas of users and client ids; a name is null for the default. */
    private String quotas() throws Exception {
        DescribeClientQuotasOptions options = new DescribeClientQuotasOptions().timeoutMs(ANSWER_MS);
        List<String> quotas = new ArrayList<>();
        admin().describeClientQuotas(ClientQuotaFilter.all(), options).entities().get().forEach((entity, limits) -> {
            Map<String, String> names = new TreeMap<>();
            Map<String, String> rates = new TreeMap<>();
            entity.entries().forEach((kind, name) -> names.put(kind, name == null ? "null" : text(name)));
            limits.forEach((name, rate) -> rates.put(name, text(String.valueOf(rate))));
            if (!names.containsKey(ClientQuotaEntity.IP)) {
                quotas.add("{\"of\":" + object(names) + ",\"rates\":" + object(rates) + "}");
            }
        });
        return "[" + String.join(",", quotas) + "]";
    }

    /** The bytes of each topic's partitions per broker, and the free bytes of each broker that reports them. */
    private String space() throws Exception {
        List<Integer> brokers = new ArrayList<>();
        nodes().forEach(node -> brokers.add(node.id()));
        Map<Integer, KafkaFuture<Map<String, LogDirDescription>>> asked =
                admin().describeLogDirs(brokers, new DescribeLogDirsOptions().timeoutMs(ANSWER_MS)).descriptions();
        Map<TopicPartition, Map<String, String>> sizes = new LinkedHashMap<>();
        Map<String, String> free = new LinkedHashMap<>();
        for (Integer broker : brokers) {
            for (LogDirDescription folder : asked.get(broker).get().values()) {
                folder.replicaInfos().forEach((partition, replica) -> add(sizes, broker, partition, replica));
                if (folder.usableBytes().isPresent()) {
                    long bytes = Long.parseLong(free.getOrDefault(broker.toString(), "0"));
                    free.put(broker.toString(), String.valueOf(bytes + folder.usableBytes().getAsLong()));
                }
            }
        }
        Map<String, Map<String, String>> byTopic = new LinkedHashMap<>();
        sizes.forEach((partition, replicas) -> byTopic
                .computeIfAbsent(partition.topic(), topic -> new LinkedHashMap<>())
                .put(String.valueOf(partition.partition()), object(replicas)));
        Map<String, String> topicSizes = new LinkedHashMap<>();
        byTopic.forEach((topic, partitions) -> topicSizes.put(topic, object(partitions)));
        return "{\"free\":" + object(free) + ",\"sizes\":" + object(topicSizes) + "}";
    }

    private void add(
            Map<TopicPartition, Map<String, String>> sizes,
            Integer broker,
            TopicPartition partition,
            ReplicaInfo replica) {
        // A replica that is being moved to another folder counts once.
        if (!replica.isFuture() && topics.contains(partition.topic())) {
            sizes.computeIfAbsent(partition, each -> new LinkedHashMap<>())
                    .put(broker.toString(), String.valueOf(replica.size()));
        }
    }

    /** The error and its causes, the innermost one last, as Java prints them. */
    private static String errors(Throwable error) {
        StringBuilder lines = new StringBuilder();
        Throwable each = cause(error);
        while (each != null && lines.length() < ERROR_LETTERS_MAX) {
            lines.append(lines.length() == 0 ? "" : "\nCaused by: ").append(each);
            each = each.getCause();
        }
        return lines.substring(0, Math.min(lines.length(), ERROR_LETTERS_MAX));
    }

    /** The cause of an error of futures, which may wait for each other. */
    private static Throwable cause(Throwable error) {
        boolean isWrapped = error instanceof ExecutionException && error.getCause() != null;
        return isWrapped ? cause(error.getCause()) : error;
    }

    private static String object(Map<String, String> values) {
        StringBuilder json = new StringBuilder();
        values.forEach((name, value) ->
                json.append(json.length() == 0 ? "{" : ",").append(text(name)).append(':').append(value));
        return json.length() == 0 ? "{}" : json.append('}').toString();
    }

    private static String text(String value) {
        StringBuilder json = new StringBuilder("\"");
        for (char letter : value.toCharArray()) {
            if (letter < ' ' || letter > '~' || letter == '"' || letter == '\\') {
                json.append(String.format("\\u%04x", (int) letter));
            } else {
                json.append(letter);
            }
        }
        return json.append('"').toString();
    }
}
