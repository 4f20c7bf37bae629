#!/bin/sh
# mirrorctl: runs the MirrorMaker process of one migration on this host, at most one at a time, with a lease.
#
#   mirrorctl reserve <migration>                          take the reservation
#   mirrorctl release <migration>                          free it, if no process of the migration is alive
#   mirrorctl start   <migration> <generation> <lease_s>   start MirrorMaker's JVM
#   mirrorctl renew   <migration> <generation>             renew the lease, then like status
#   mirrorctl status  <migration>                          the current state
#   mirrorctl stop    <migration> <generation|last> <grace_s>    a grace of 0 sends KILL immediately, without TERM
#   mirrorctl logs    <migration> <generation|last> <lines>
#   mirrorctl clean   <migration> <keep>                   remove the folders of all but the newest <keep> generations
#   mirrorctl fingerprint <migration>                      versions and paths on this host
#   mirrorctl probe   <migration> <subject>                facts for the preflight: `host` about this host, `clusters`
#                                                          about both clusters, asked by a Kafka client on this host
#   mirrorctl forced                                       as an OpenSSH forced command: see `forced` below
#
# Every call prints exactly one line `@@mirrorctl {json}@@`. Long, arbitrary or secret values are passed in shell
# variables MIRRORCTL_*, set before this text on stdin and never exported, so no process list shows them.
# Without an installation this text itself is in MIRRORCTL_SELF. `supervise`, `watch` and `guard` are for internal use.
# The documentation's page "mirrorctl" has the replies, the variables and both installations.
#
# Below the base folder (MIRRORCTL_HOME, else KAFKA_MIGRATION_HOME, else ~/.kafka-migration) per migration:
#   reservation     the holder                       generation   the last generation started
#   stopped-<n>     no generation up to n may start, because they were asked to stop
#   barred-<n>      the same, because they started too late or a later generation followed
#   lock.<n>        the call that works, or worked, on the migration; probing-<subject>.<n>: the same for probes
#   journal         epoch_s uptime_s verb generation pid outcome; journal.1 has the events before
#   probe-<subject>-<pid>/   the files of a running probe
#   gen-<n>/        manifest, alarms, files of the launch, supervise (this text), console.log, mirrormaker.log,
#                   and the records supervisor, watcher, java, lease, exit, killed, expired; `secrets` is a link into
#                   memory if there is a tmpfs, and secrets-place has its target
#
# A process is identified by pid, start time, boot id and the marker in its environment, never by its pid alone.
#
# POSIX sh has no local variables. So only `main` assigns the arguments of a call, and the comment of each function names
# in backticks the variables that its callers read from it. It may name a function instead, whose variables are meant.

umask 077
LC_ALL=C
export LC_ALL
# What a reply may show, and what only some verbs set, must not come from the environment.
unset CDPATH is_forced adopted base boot_id dir facts log_json probe_classes

LAUNCH_WAIT_S=8
LOCK_WAIT_S=10
LEASE_GRACE_MAX_S=60
LOG_TAIL_LINES=40
LOG_TAIL_BYTES=131072
LOG4J_FILE=log4j.properties
LOG4J2_FILE=log4j2.properties
LOG_FILE=mirrormaker.log
# The allowed lines of the logging configurations, as patterns: with other lines a caller could log to any file of this
# user. Log4j is in Kafka before 4.0, Log4j 2 in newer versions.
LOG4J_LINES='log4j\.rootLogger=INFO, file
log4j\.appender\.file=org\.apache\.log4j\.RollingFileAppender
log4j\.appender\.file\.File=\$\{mirror\.log\.dir\}/mirrormaker\.log
log4j\.appender\.file\.MaxFileSize=20MB
log4j\.appender\.file\.MaxBackupIndex=4
log4j\.appender\.file\.layout=org\.apache\.log4j\.PatternLayout
log4j\.appender\.file\.layout\.ConversionPattern=\[%d\] %p %m \(%c\)%n
log4j\.logger\.[A-Za-z0-9_.$]+=(OFF|FATAL|ERROR|WARN|INFO|DEBUG|TRACE)'
LOG4J2_LINES='shutdownHook=disable
rootLogger\.level=INFO
rootLogger\.appenderRef\.file\.ref=file
appender\.file\.type=RollingFile
appender\.file\.name=file
appender\.file\.fileName=\$\{sys:mirror\.log\.dir\}/mirrormaker\.log
appender\.file\.filePattern=\$\{sys:mirror\.log\.dir\}/mirrormaker\.log\.%i
appender\.file\.policies\.type=Policies
appender\.file\.policies\.size\.type=SizeBasedTriggeringPolicy
appender\.file\.policies\.size\.size=20MB
appender\.file\.strategy\.type=DefaultRolloverStrategy
appender\.file\.strategy\.fileIndex=min
appender\.file\.strategy\.max=4
appender\.file\.layout\.type=PatternLayout
appender\.file\.layout\.pattern=\[%d\] %p %m \(%c\)%n'
# Kafka's property with the addresses from which OAuth tokens may come.
TOKEN_ENDPOINTS=org.apache.kafka.sasl.oauthbearer.allowed.urls
# Login modules that load code from an address of the caller. Kafka forbids both from 3.9.1.
FORBIDDEN_LOGINS=com.sun.security.auth.module.JndiLoginModule,com.sun.security.auth.module.LdapLoginModule
# The limits of counts, sizes and times (in seconds) in a request. 5,000 topics take 1.3 MB.
COUNT_MAX=100
REQUEST_LINES_MAX=1000
REQUEST_BYTES_MAX=8388608
HOLDER_MAX=1000
LEASE_MAX_S=604800
GRACE_MAX_S=3600
LOG_LINES_MAX=10000
ALARM_LOG_BYTES=262144
# The longest message of a reply. Above this size (1 MiB, in blocks of `find`) a journal or a supervisor.log makes room.
MESSAGE_MAX=1000
RECORD_BLOCKS=2048
# The limits of a probe: the time of its program, the time of all look-ups of names, the number of names, the output
# (4 MiB, in blocks of `find`), and the end of the errors that is shown. One probe of a migration runs at a time; the
# next one waits.
PROBE_S=120
PROBE_WAIT_S=130
LOOKUP_S=10
NAMES_MAX=200
ADDRESSES_MAX=50
CLIENT_BYTES_MAX=2097152
PROBE_OUTPUT_BLOCKS=8192
PROBE_ERROR_BYTES=4096
# The program asks both clusters, each with 128 MiB. No configuration of a client may read files through a provider.
PROBE_JAVA="-Xmx256m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData -Dstdout.encoding=UTF-8
-Dorg.apache.kafka.automatic.config.providers=none"
# The number of old lock.<n> that are kept, because a slow caller may still read them.
LOCKS_KEPT=8
# The allowed lines of a probe's client settings, as patterns: the settings that this package writes, in the one form in
# which it writes them. Of such a line Java reads exactly the name before " = ", so no other spelling can hide another
# setting. Others load classes, read files or name further settings. A text has the escapes of Java's properties; a quoted
# text is one of JAAS in it. No printable ASCII character is escaped by its number, so a reference \${...} cannot hide.
CLIENT_UNICODE='\\u(00[a-f][0-9a-f]|0[1-9a-f][0-9a-f]{2}|[1-9a-f][0-9a-f]{3})'
CLIENT_TEXT='(\\ )?([] -[^-~]|\\[\nrt]|'$CLIENT_UNICODE')*'
CLIENT_QUOTED='"([] !#-[^-~]|\\t|\\\\("|n|\\\\)|'$CLIENT_UNICODE')*"'
CLIENT_LINES='bootstrap\.servers = (\\ )?[][A-Za-z0-9.,:_% -]+
client\.rack = '$CLIENT_TEXT'
security\.protocol = (SASL_)?(PLAINTEXT|SSL)
ssl\.endpoint\.identification\.algorithm = (https)?
ssl\.truststore\.type = PEM
ssl\.truststore\.certificates = '$CLIENT_TEXT'
ssl\.keystore\.type = PEM
ssl\.keystore\.key = '$CLIENT_TEXT'
ssl\.keystore\.certificate\.chain = '$CLIENT_TEXT'
ssl\.key\.password = '$CLIENT_TEXT'
sasl\.mechanism = (PLAIN|SCRAM-SHA-256|SCRAM-SHA-512|GSSAPI|OAUTHBEARER)
sasl\.kerberos\.service\.name = '$CLIENT_TEXT'
sasl\.oauthbearer\.token\.endpoint\.url = https://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[A-Za-z0-9._~-]+)*/?
sasl\.login\.callback\.handler\.class = org\.apache\.kafka\.common\.security\.oauthbearer\.OAuthBearerLoginCallbackHandler
sasl\.jaas\.config = org\.apache\.kafka\.common\.security\.(plain\.Plain|scram\.Scram)LoginModule required username='$CLIENT_QUOTED' password='$CLIENT_QUOTED';
sasl\.jaas\.config = com\.sun\.security\.auth\.module\.Krb5LoginModule required useKeyTab=true storeKey=true doNotPrompt=true keyTab="(/[A-Za-z0-9._@+-]+)+" principal="[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)?@[A-Za-z0-9._-]+";
sasl\.jaas\.config = org\.apache\.kafka\.common\.security\.oauthbearer\.OAuthBearerLoginModule required clientId='$CLIENT_QUOTED' clientSecret='$CLIENT_QUOTED'( scope='$CLIENT_QUOTED')?( extension_[A-Za-z]+='$CLIENT_QUOTED')*( ssl\.truststore\.type="PEM" ssl\.truststore\.certificates='$CLIENT_QUOTED')?;'

