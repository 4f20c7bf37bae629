import org.apache.kafka.connect.runtime.SourceConnectorConfig;

/** Prints the keys that Connect has for every source connector, also those of the default group of created topics. */
public final class SourceConnectorKeys {
    public static void main(String[] arguments) {
        SourceConnectorConfig.embedDefaultGroup(SourceConnectorConfig.configDef()).names().forEach(System.out::println);
    }
}
