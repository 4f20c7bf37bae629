"""Configurations as public repositories and guides have them, reduced to their settings; hosts and names are changed.

The name says where a file was found. Comments are left out, because MirrorMaker ignores them.
"""

from __future__ import annotations

_ONE_REPLICA = """\
checkpoints.topic.replication.factor=1
heartbeats.topic.replication.factor=1
offset-syncs.topic.replication.factor=1
offset.storage.replication.factor=1
status.storage.replication.factor=1
config.storage.replication.factor=1
"""
_DATACENTERS = """\
clusters = source, target
source.bootstrap.servers = kafka-source:9092
target.bootstrap.servers = kafka-target:9092
source.config.storage.replication.factor = 1
target.config.storage.replication.factor = 1
source.offset.storage.replication.factor = 1
target.offset.storage.replication.factor = 1
source.status.storage.replication.factor = 1
target.status.storage.replication.factor = 1
source->target.enabled = true
"""
_DATACENTERS_END = r"""offset-syncs.topic.replication.factor = 1
heartbeats.topic.replication.factor = 1
checkpoints.topic.replication.factor = 1
topics = .*
groups = .*
tasks.max = 1
replication.factor = 1
refresh.topics.enabled = true
sync.topic.configs.enabled = true
refresh.topics.interval.seconds = 30
topics.blacklist = .*[\-\.]internal, .*\.replica, __consumer_offsets
groups.blacklist = console-consumer-.*, connect-.*, __.*
"""
_BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"

# Each entry: where it was found, and the files that belong together by name.
PUBLIC: dict[str, dict[str, str]] = {
    "apache/kafka config/connect-mirror-maker.properties": {
        "mm2.properties": "clusters = A, B\n"
        "A.bootstrap.servers = A_host1:9092, A_host2:9092, A_host3:9092\n"
        "B.bootstrap.servers = B_host1:9092, B_host2:9092, B_host3:9092\n"
        "A->B.enabled = true\nA->B.topics = .*\nB->A.enabled = true\nB->A.topics = .*\n"
        f"replication.factor=1\n{_ONE_REPLICA}",
    },
    "blachniet/demo-kafka-mirrormaker-2": {
        "mm2.properties": "clusters = A, B\nA.bootstrap.servers = localhost:8\nB.bootstrap.servers = localhost:9\n"
        f"A->B.enabled = true\nA->B.topics = .*\nreplication.factor=1\n{_ONE_REPLICA}",
    },
    "ZhiFeng1993/mirrormaker2-demo": {
        "mm2.properties": "clusters = A, B\nA.bootstrap.servers = localhost:8\nB.bootstrap.servers = localhost:9\n"
        "A->B.enabled = true\nB->A.enabled = true\nemit.heartbeats.enabled = true\nA->B.topics = .*\nB->A.topics = .*\n"
        f"A->B.groups = .*\nB->A.groups = .*\nreplication.factor=1\n{_ONE_REPLICA}groups.blacklist =\n"
        "sync.topic.acls.enabled = true\nemit.checkpoints.interval.seconds = 10\nemit.heartbeats.interval.seconds = 5\n"
        "sync.group.offsets.enabled = true\nsync.group.offsets.interval.seconds = 30\n",
    },
    "Iskuskov/kafka_mirror_maker_2_poc": {
        "mm2.properties": "clusters source, target\nsource.bootstrap.servers = src:10091\n"
        "target.bootstrap.servers = dest:11091\nreplication.factor= 1\nsource.cluster.alias =\n"
        "replication.policy.separator =\ntopics = .*\ngroups = .*\nsync.group.offsets.interval.seconds = 20\n---%<---\n"
        "source->target.sync.group.offsets.enabled = true\nsource->target.enabled = true\n"
        "key.converter=org.apache.kafka.connect.json.JsonConverter\n"
        "producer.override.value.converter=org.apache.kafka.connect.json.JsonConverter\n",
    },
    "thspinto/KafkaMirrorMaker2.0PoC": {
        "mm2.properties": "clusters kafka1, kafka2\nkafka1.bootstrap.servers = kafkaA1:9092\n"
        "kafka2.bootstrap.servers = kafkaB2:9092\noffset.storage.replication.factor=1\nreplication.factor=1\n---%<---\n"
        "kafka1->kafka2.enabled=true\n",
    },
    "bhatnagarm/kafka-migration-kraft": {
        "mm2.properties": "clusters = A, B\nA.bootstrap.servers = kafka-a:9092\nB.bootstrap.servers = kafka-b:9092\n"
        "A->B.enabled = true\nA->B.topics = my-topic\nA->B.emit.heartbeats.enabled = true\n"
        "A->B.emit.checkpoints.enabled = true\n",
    },
    "chiodonia/kafka-migration": {
        "mm2.properties": "topics=.* \ngroups=.* \ntasks.max=10\noffset.storage.replication.factor=1\n"
        "refresh.topics.enabled=false\nrefresh.groups.interval.seconds=60\nsync.topic.configs.enabled=false\n"
        "emit.heartbeats.interval.seconds=1\nsync.group.offsets.enabled=true\n"
        "replication.policy.class=org.apache.kafka.connect.mirror.IdentityReplicationPolicy\nclusters=source, target\n"
        "source.bootstrap.servers=localhost:9092\ntarget.bootstrap.servers=localhost:9094\n"
        "source->target.enabled=true\ntarget->source.enabled=false",
    },
    "stfc/lsst-drp-kafka": {
        "mm2.properties": "clusters = target, source\ntopics=.*\ngroups=.*\nsource.cluster.alias = usdf\n"
        "source.bootstrap.servers = one:9094, two:9094\ntarget.cluster.alias=ukdf\n"
        "target.bootstrap.servers = broker1:29092\nsource->target.enabled = true\nsource->target.topics = .*\n"
        "source->target.groups = .*\nsource->target.emit.heartbeats.enabled = false\n"
        f"source->target.emit.checkpoints.enabled = false\nkey.converter = {_BYTES}\nvalue.converter = {_BYTES}\n"
        "config.storage.replication.factor: 1\nreplication.factor = 1\n"
        "topics.exclude = .*[\\-\\.]internal, .*\\.replica, __consumer_offsets\n"
        "groups.exclude = console-consumer-.*, connect-.*, __.*\n",
    },
    "subhamproject/kafka-with-mirrormaker2": {
        "mm2.properties": "clusters=A,B\nA.bootstrap.servers=kafka1:9092,kafka2:9092\n"
        "B.bootstrap.servers==kafka4:9092,kafka5:9092\nA.security.protocol=SSL\n"
        "A.ssl.truststore.location=/tmp/secrets/root.truststore.jks\nA.ssl.truststore.password=password\n"
        "A.ssl.keystore.location=/tmp/secrets/root.keystore.jks\nA.ssl.keystore.password=password\n"
        "A.ssl.key.password=password\nB.security.protocol=SSL\nB.ssl.truststore.password=password\n"
        "A.config.storage.replication.factor=3\nA->B.enabled=true\nB->A.enabled=false\n"
        "offset-syncs.topic.replication.factor=3\nA->B.topics=.*\nA->B.groups=.*\ntasks.max=2\nreplication.factor=3\n"
        "exclude.internal.topics=true\ntopics.blacklist=.*[\\-\\.]internal, .*\\.replica, __consumer_offsets\n"
        "replication.policy.separator=\nsource.cluster.alias=\ntarget.cluster.alias=\n",
    },
    "rca0/kafka-mm2": {
        "mm2.properties": f"{_DATACENTERS}target->source.enabled = false # passive\n{_DATACENTERS_END}"
        "source->target.emit.heartbeats.enabled = true\nsource->target.emit.checkpoints.enabled = true\n",
    },
    "gimral/mirrormaker": {
        "mm2.properties": f"{_DATACENTERS}target->source.enabled = false\n{_DATACENTERS_END}"
        "source->target.emit.heartbeats.enabled = true \nsource->target.emit.checkpoints.enabled = true ",
    },
    "wingardiumleviosaa/kafka-mirromaker2": {
        "mm2.properties": f"{_DATACENTERS}target->source.enabled = false\n{_DATACENTERS_END}"
        "replication.policy.class=org.apache.kafka.connect.mirror.IdentityReplicationPolicy\n"
        "source->target.emit.heartbeats.enabled = true \nsource->target.emit.checkpoints.enabled = true",
    },
    "saiello/mirror-maker-migration": {
        "mm2.properties": "clusters = primary, secondary\nprimary.bootstrap.servers = localhost:9094\n"
        "secondary.bootstrap.servers = localhost:9095\nprimary->secondary.enabled = true\n"
        "primary->secondary.topics = test-.*\nsecondary->primary.enabled = false\ntasks.max = 2\n"
        "replication.policy.class=org.apache.kafka.connect.mirror.IdentityReplicationPolicy\n"
        "refresh.topics.enabled=false \nemit.checkpoints.enabled=false\nemit.heartbeats.enabled=false\n"
        f"{_ONE_REPLICA}replication.factor=1\nsecondary.producer.batch.size = 1000\n"
        "primary.producer.batch.size = 1000\n",
    },
    "cloudtechner/ct-kafka-mm-k8s-setup": {
        "mm2.properties": "clusters=<source-name>, <target-name>\n<source-name>.bootstrap.servers=<source-host>:9092\n"
        "<target-name>.bootstrap.servers=<target-host>:9092\n<source-name>.config.storage.replication.factor=3\n"
        "<source-name>-><target-name>.enabled=true\ntopics=.*\ngroups=.*\ntasks.max=2\nreplication.factor=3\n"
        "<source-name>-><target-name>.emit.heartbeats.enabled=true\n"
        "<target-name>-><source-name>.emit.heartbeats.enabled=true\n"
        "replication.policy.separator=\nsource.cluster.alias=\ntarget.cluster.alias=\n",
    },
    "ugurozgen/cdc-demo": {
        "mm2.properties": "clusters = gebze, ankara\ngebze.bootstrap.servers = kafka-a:19092\n"
        "ankara.bootstrap.servers = kafka-b:19092\ngebze->ankara.enabled = true\nankara->gebze.enabled = true\n"
        "gebze->ankara.topics = .*\nankara->gebze.topics = .*\n"
        "gebze->ankara.topics.exclude = .*[\\\\-\\\\.]internal, .*\\\\.replica, __.*, mm2.*, .*\\\\.heartbeats\n"
        "gebze->ankara.sync.group.offsets.enabled = true\nankara->gebze.sync.group.offsets.enabled = true\n"
        "gebze->ankara.groups = .*\ngebze->ankara.groups.exclude = console-consumer-.*, __.*, dbz-connect-.*\n"
        f"sync.topic.acls.enabled = false\nreplication.factor = 1\n{_ONE_REPLICA}",
    },
    "tvtn/kafka": {
        "mm2.properties": "replication.policy.separator=\nsource.cluster.alias=\ntarget.cluster.alias=\n",
    },
    "rajabhishekmaurya/kafka-mirrormaker-challenge": {
        "mm2.properties": "clusters = primary, standby\nprimary.bootstrap.servers = primary:9092\n"
        "standby.bootstrap.servers = standby:9094\nprimary->standby.enabled = true\n"
        "primary->standby.topics = commit-log\nprimary->standby.sync.group.offsets.enabled = false\n"
        "primary->standby.sync.topic.acls.enabled = false\nprimary->standby.consumer.auto.offset.reset = none\n"
        f"replication.factor = 1\n{_ONE_REPLICA}refresh.topics.interval.seconds = 5\n",
    },
    "hifly81/mirror-maker2-tests": {
        "mm2.properties": "clusters=DC-X,DC-Y\nDC-X.bootstrap.servers=localhost:9092,localhost:9093\n"
        "DC-Y.bootstrap.servers=localhost:19092,localhost:19093\nDC-X->DC-Y.enabled = true\nDC-X->DC-Y.topics = .*\n"
        "DC-Y->DC-X.enabled = true\nDC-Y->DC-X.topics = .*\nsync.topic.acls.enabled=true\n",
    },
    "sagecontinuum/sage-neon-broker": {
        "mm2.properties": "clusters = primary, mirror\nprimary.bootstrap.servers = ${env:SERVERS}\n"
        "primary.security.protocol = SASL_PLAINTEXT\nprimary.sasl.mechanism = SCRAM-SHA-512\n"
        "primary.sasl.jaas.config = org.apache.kafka.common.security.scram.ScramLoginModule required "
        'username="${env:NAME}" password="${env:PASSWORD}";\nmirror.bootstrap.servers = localhost:9092\n'
        "config.providers = env\n"
        "config.providers.env.class = org.apache.kafka.common.config.provider.EnvVarConfigProvider\n"
        "primary->mirror.enabled = true\nmirror->primary.enabled = false\n"
        "primary->mirror.topics = reading.sensor.li7200_raw, reading.sensor.csat3\n"
        "mirror.producer.max.request.size = 5242880\n"
        "replication.policy.class = org.apache.kafka.connect.mirror.IdentityReplicationPolicy\n"
        "primary->mirror.sync.group.offsets.enabled = true\noffset-syncs.topic.location = target\n"
        "sync.topic.acls.enabled = false\nreplication.factor = 1\ntasks.max = 4\n"
        "primary.consumer.isolation.level = read_committed\nprimary.consumer.auto.offset.reset = latest\n",
    },
    "p10solutions/kafka-connect-poc": {
        "source.json": '{"name": "mirror-source-connector", "config": {\n'
        '"connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",\n'
        '"clusters": "source,destination",\n"source.cluster.alias": "source",\n"target.cluster.alias": "destination",\n'
        '"source.cluster.bootstrap.servers": "kafka-a:9092",\n"target.cluster.bootstrap.servers": "kafka-b:9093",\n'
        '"source->destination.enabled": "true",\n"source->destination.topics": ".*",\n"replication.factor": "1",\n'
        '"config.storage.replication.factor": "1"}}\n',
    },
    "raghav1674/mirror-maker-setup": {
        "mm2-msc.json": '{\n"name": "mm2-msc",\n'
        '"connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",\n'
        '"replication.policy.class": "com.amazonaws.kafka.samples.CustomMM2ReplicationPolicy",\n'
        '"clusters": "msksource,mskdest",\n"source.cluster.alias": "msksource",\n"target.cluster.alias": "mskdest",\n'
        '"target.cluster.bootstrap.servers": "b-1:9096",\n"producer.override.bootstrap.servers": "b-1:9096",\n'
        '"source.cluster.bootstrap.servers": "a-1:9096",\n"source.cluster.security.protocol": "SASL_SSL",\n'
        '"source.cluster.sasl.mechanism": "SCRAM-SHA-512",\n'
        '"source.cluster.sasl.jaas.config": "org.apache.kafka.common.security.scram.ScramLoginModule required '
        'username=\\"copy\\" password=\\"planted-secret\\";"}\n',
    },
    "strimzi/proposals 115": {
        "mm2.yaml": 'kind: KafkaMirrorMaker2\nspec:\n  version: 4.0.0\n  replicas: 1\n  connectCluster: "cluster-b"\n'
        '  clusters:\n  - alias: "cluster-a"\n    bootstrapServers: cluster-a-kafka-bootstrap:9092\n'
        '  - alias: "cluster-b"\n    bootstrapServers: cluster-b-kafka-bootstrap:9092\n    config:\n'
        '      config.storage.replication.factor: -1\n  mirrors:\n  - sourceCluster: "cluster-a"\n'
        '    targetCluster: "cluster-b"\n    sourceConnector:\n      tasksMax: 1\n      config:\n'
        '        replication.factor: -1\n        sync.topic.acls.enabled: "false"\n'
        "        refresh.topics.interval.seconds: 600\n    checkpointConnector:\n      tasksMax: 1\n      config:\n"
        '        sync.group.offsets.enabled: "false"\n    topicsPattern: ".*"\n    groupsPattern: ".*"\n',
    },
    "satand/strimzi-mirroring": {
        "mm2.yaml": 'kind: KafkaMirrorMaker2\nspec:\n  version: 3.9.0\n  connectCluster: "backup"\n  clusters:\n'
        '  - alias: "primary"\n    bootstrapServers: bootstrap.kafka.svc:9093\n    authentication:\n'
        "      type: scram-sha-512\n      username: primary-user\n      passwordSecret:\n"
        "        secretName: primary-user\n        password: password\n    config:\n"
        '      offset.storage.replication.factor: -1\n  - alias: "backup"\n    bootstrapServers: backup.svc:9093\n'
        '  mirrors:\n  - sourceCluster: "primary"\n    targetCluster: "backup"\n    sourceConnector:\n      config:\n'
        "        replication.policy.class: org.apache.kafka.connect.mirror.IdentityReplicationPolicy\n"
        '    topicsPattern: "orders|payments"\n    groupsExcludePattern: "console-.*"\n',
    },
    "nagcloudlab/strimzi": {
        "mm2.yaml": 'kind: KafkaMirrorMaker2\nspec:\n  version: 3.6.1\n  connectCluster: "my-target"\n  clusters:\n'
        '  - alias: "my-source"\n    bootstrapServers: my-source-bootstrap:9092\n  - alias: "my-target"\n'
        '    bootstrapServers: my-target-bootstrap:9092\n  mirrors:\n  - sourceCluster: "my-source"\n'
        '    targetCluster: "my-target"\n    sourceConnector: {}\n',
    },
    "Edison-Zhou/search-hot mirror.sh": {
        "consumer.properties": "bootstrap.servers=old:9092\ngroup.id=mirror\nauto.offset.reset=earliest\n",
        "producer.properties": "bootstrap.servers=new:9092\nacks=all\n",
        "mirror.sh": "#!/usr/bin/env bash\n../bin/kafka-mirror-maker.sh --consumer.config consumer.properties "
        "--producer.config producer.properties --num.producers 5 --num.streams 5 --queue.size 2000 "
        "--whitelist 'rec-topvideo|rec-user|voice-search'\n",
    },
    "gkrm970/all_projects runMirrorMaker.sh": {
        "consumer.properties": "bootstrap.servers=old:9092\ngroup.id=mirror\n",
        "producer.properties": "bootstrap.servers=new:9092\nacks=all\n",
        "run.sh": "kafka-run-class.sh kafka.tools.MirrorMaker --consumer.config consumer.properties "
        "--producer.config producer.properties --num.streams 1 --whitelist='.*' "
        "--message.handler com.example.RenameTopicHandler --message.handler.args 'orders,new.orders'\n",
    },
    "guide: HDInsight, MirrorMaker 1": {
        "consumer.properties": "zookeeper.connect=zk0-source:2181,zk1-source:2181\ngroup.id=mirrorgroup\n",
        "producer.properties": "bootstrap.servers=wn0-dest:9092,wn1-dest:9092\ncompression.type=none\n",
        "start.sh": "/usr/hdp/current/kafka-broker/bin/kafka-run-class.sh kafka.tools.MirrorMaker --consumer.config "
        "consumer.properties --producer.config producer.properties --whitelist testtopic --num.streams 4\n",
    },
    "guide: HDInsight, MirrorMaker 2": {
        "mm2.properties": "clusters = primary-kafka-cluster, secondary-kafka-cluster\n"
        "primary-kafka-cluster.bootstrap.servers = wn0-old:9092,wn1-old:9092\n"
        "secondary-kafka-cluster.bootstrap.servers = wn0-new:9092,wn1-new:9092\n"
        "primary-kafka-cluster->secondary-kafka-cluster.enabled = true\n"
        "primary-kafka-cluster->secondary-kafka-cluster.topics = .*\n"
        "secondary-kafka-cluster->primary-kafka-cluster.enabled = true\n"
        "secondary-kafka-cluster->primary-kafka-cluster.topics = .*\nreplication.factor=3\n"
        "checkpoints.topic.replication.factor=1\nheartbeats.topic.replication.factor=1\n"
        "offset-syncs.topic.replication.factor=1\nemit.heartbeats.interval.seconds = 5\n",
    },
    "guide: HDInsight, MirrorMaker 2 for consumer groups": {
        "mm2.properties": "name=mm2\nclusters=source,destination\nsource.bootstrap.servers=wn0-old:9092\n"
        "destination.bootstrap.servers=wn0-new:9092\nsource->destination.enabled=true\ntopics=.*\ngroups=.*\n"
        'topics.blacklist="*.internal,__.*"\ntasks.max=4\nReplication.factor=3\nrefresh.topics.enabled=true\n'
        "refresh.topics.interval.seconds=5\nrefresh.groups.interval.seconds=5\nreadahead.queue.capacity=100\n"
        "sync.group.offsets.interval.ms=5000\ncheckpoints.topic.retention.ms=100000\n"
        "replication.policy.class=org.apache.kafka.connect.mirror.LegacyReplicationPolicy\n"
        "emit.checkpoints.interval.seconds=5\nconnector.class=org.apache.kafka.connect.mirror.MirrorSinkConnector\n",
    },
    "guide: Cloudera, MirrorMaker role": {
        "consumer.properties": "bootstrap.servers=old-1:9093\ngroup.id=cloudera_mirrormaker\n"
        "auto.offset.reset=earliest\npartition.assignment.strategy=org.apache.kafka.clients.consumer.RoundRobinAssignor\n"
        "security.protocol=SASL_SSL\nsasl.kerberos.service.name=kafka\nssl.truststore.location=/var/lib/trust.jks\n",
        "producer.properties": "bootstrap.servers=new-1:9093\nacks=all\nretries=2147483647\n"
        "max.block.ms=9223372036854775807\n"
        "max.in.flight.requests.per.connection=1\nsecurity.protocol=SASL_SSL\nsasl.kerberos.service.name=kafka\n",
        "start.sh": "kafka-mirror-maker --consumer.config consumer.properties --producer.config producer.properties "
        "--offset.commit.interval.ms 60000 --num.streams 2 --abort.on.send.failure true --whitelist 'a,b.*'\n",
    },
    "guide: Event Hubs, MirrorMaker 1": {
        "source-kafka.config": "bootstrap.servers=old:9092\ngroup.id=example-mirrormaker-group\n"
        "exclude.internal.topics=true\nclient.id=mirror_maker_consumer\n",
        "mirror-eventhub.config": "bootstrap.servers=ns.example.net:9093\nclient.id=mirror_maker_producer\n"
        "sasl.mechanism=PLAIN\nsecurity.protocol=SASL_SSL\nlinger.ms=5\n"
        "sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required "
        'username="$ConnectionString" password="planted-secret";\n',
        "start.sh": "bin/kafka-mirror-maker.sh --consumer.config source-kafka.config --num.streams 1 "
        '--producer.config mirror-eventhub.config --whitelist=".*"\n',
    },
}
