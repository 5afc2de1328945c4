/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of findings: what is wrong on a machine, with its collectors and with the database.
 */
#include "cli/doctor/finding_texts.h"

#define TEXT(id) [FP_FINDING_##id - FP_FINDING_CONFIG_INVALID]

const struct fp_finding_text fp_texts_of_machines[FP_TEXTS_OF_MACHINES] = {
    TEXT(CONFIG_INVALID) =
        {
            .what = "The collector's configuration is invalid.",
            .why = "The collector does not start with it.",
            .fix = "Correct the places; `fleetprofd --check-config` also shows them.",
        },
    TEXT(CONFIG_UNREADABLE) =
        {
            .what = "The collector's user cannot read a file of the configuration.",
            .why = "The collector does not start.",
            .fix = "Give the file to the group: chgrp fleetprof FILE; chmod 640 FILE",
        },
    TEXT(DATABASE_UNREACHABLE) =
        {
            .what = "The database cannot be reached.",
            .why = "Uploads wait in the spool until it is full.",
            .fix = "Start PostgreSQL, and correct `database` in fleetprof.yaml.",
        },
    TEXT(DATABASE_POOLER) =
        {
            .what = "The database is behind a pooler in statement mode.",
            .why = "It has no transactions: nothing is counted or answered, and uploads wait in "
                   "the spool.",
            .fix = "In PgBouncer, set pool_mode = transaction for this database, or name "
                   "PostgreSQL's own address in `database`.",
        },
    TEXT(DATABASE_LOGIN) =
        {
            .what = "PostgreSQL does not let the collector in.",
            .why = "Uploads are accepted and never counted.",
            .fix = "With peer authentication, map the system user: in pg_hba.conf `local fleetprof "
                   "fleetprof_writer peer map=fleetprof`, in pg_ident.conf `fleetprof fleetprof "
                   "fleetprof_writer`; then reload PostgreSQL.",
        },
    TEXT(DATABASE_NOT_MIGRATED) =
        {
            .what = "The database has no schema.",
            .why = "Uploads are accepted and never counted.",
            .fix = "As postgres: createdb fleetprof; fleetprof migrate -d dbname=fleetprof",
        },
    TEXT(DATABASE_OUTDATED) =
        {
            .what = "The database's schema is not this version's.",
            .why = "What the collector cannot write to it waits in the spool.",
            .fix = "Run `fleetprof migrate` of the collector's version.",
        },
    TEXT(DATABASE_RIGHTS) =
        {
            .what = "The collector's role lacks rights.",
            .why = "Every flush fails while uploads are accepted.",
            .fix = "Use the role fleetprof_writer, or grant it: grant fleetprof_writer to ROLE",
        },
    TEXT(DATABASE_PARTITIONS) =
        {
            .what = "Partitions for today are missing.",
            .why = "Flushes have to make them first, which takes rights and locks.",
            .fix = "Start the collector: it makes them each hour.",
        },
    TEXT(EXTENSION_UNUSED) =
        {
            .what = "The extension fleetprof_native is there and not used.",
            .why = "It has another version than the schema uses: answers are right, and take "
                   "longer.",
            .fix =
                "Install the extension of this version of fleetprof, and run fleetprof migrate as "
                "a superuser.",
        },
    TEXT(CLOCK_DATABASE) =
        {
            .what = "The database's clock differs from this machine's.",
            .why = "Uploads are counted in the wrong hour, or in the database's.",
            .fix = "Run an NTP client on both machines.",
        },
    TEXT(RETENTION_REFUSED) =
        {
            .what = "Retention does not believe the clocks and destroys nothing.",
            .why = "Clocks that differ, or that jumped by more than two days, would cost what is "
                   "stored. The database grows meanwhile.",
            .fix = "Set the wrong clock. If the database's is right, run the command as a "
                   "superuser (docs/operations.md#clocks-jump).",
        },
    TEXT(SPOOL_PATH) =
        {
            .what = "The spool's directory cannot be used.",
            .why = "The collector does not start without it.",
            .fix = "install -d -o fleetprof -g fleetprof -m 700 /var/lib/fleetprof",
        },
    TEXT(SPOOL_SPACE) =
        {
            .what = "The disk has less room than the spool may take.",
            .why = "The disk fills before spool.max_bytes; then uploads get 503.",
            .fix = "Free the disk, or lower spool.max_bytes.",
        },
    TEXT(ADMIN_OFF) =
        {
            .what = "The collector has no admin listener.",
            .why = "Nobody can see its metrics and its readiness.",
            .fix = "admin: 127.0.0.1:8601",
        },
    TEXT(ADMIN_PUBLIC) =
        {
            .what = "The admin listener is on a public address.",
            .why = "It has no password; its metrics name your sites.",
            .fix = "admin: 127.0.0.1:8601",
        },
    TEXT(COLLECTOR_STOPPED) =
        {
            .what = "The collector does not answer.",
            .why = "Uploads are refused while it is down.",
            .fix = "systemctl start fleetprofd; journalctl -u fleetprofd",
        },
    TEXT(COLLECTOR_NOT_READY) =
        {
            .what = "The collector is not ready.",
            .why = "It answers uploads with 503.",
            .fix = "The reason says what is full or stopping.",
        },
    TEXT(COLLECTOR_DATABASE) =
        {
            .what = "The collector cannot write to the database.",
            .why = "Uploads are accepted and wait in the spool until it is full.",
            .fix = "The state says why, and what ends it if somebody changed the tables; the other "
                   "findings and the log have details.",
        },
    TEXT(BACKLOG) =
        {
            .what = "Uploads wait long in the spool.",
            .why = "Numbers are late, and the spool fills.",
            .fix = "docs/operations.md#flushes-fail; is the database slow or away?",
        },
    TEXT(PROFILING_COST) =
        {
            .what = "What profiling costs visitors is known.",
            .why = "Page loads that the server drew to be profiled were compared with those that "
                   "it did not, whether or not a profile came. With key= the intervals are too "
                   "narrow: visitors are drawn, and their page loads are alike.",
            .fix = "fleetprof profiling-cost --site SITE --since 7d has all figures, and how many "
                   "page loads a narrower interval needs (docs/cli.md#profiling-cost).",
        },
    TEXT(PROFILING_COSTLY) =
        {
            .what = "Profiling costs visitors more than 1 %.",
            .why = "Page loads that the server drew to be profiled are slower than those that it "
                   "did not, beyond chance; with key= less surely, since visitors are drawn, and "
                   "their page loads are alike.",
            .fix = "Lower the sample rate, and raise the agent's data-sample-interval. "
                   "fleetprof profiling-cost --site SITE --since 7d has all figures "
                   "(docs/cli.md#profiling-cost).",
        },
    TEXT(ADMIN_NOT_COLLECTOR) =
        {
            .what = "Something else answers at the address of the admin listener.",
            .why = "Nothing is known about the collector.",
            .fix = "Give the address that `admin` has in the collector's fleetprof.yaml.",
        },
    TEXT(SPOOL_FILLING) =
        {
            .what = "The spool is nearly full.",
            .why = "A full spool refuses uploads with 503.",
            .fix = "See why uploads are not flushed (backlog, collector-database), or raise "
                   "spool.max_bytes.",
        },
    TEXT(SPOOL_DAMAGED) =
        {
            .what = "The spool had damaged bytes or failed writes.",
            .why = "The disk or the memory of the machine may fail.",
            .fix = "Run fleetprof spool verify, read the log, and check the disk "
                   "(docs/operations.md#the-spool-is-damaged).",
        },
    TEXT(UPLOADS_LOST) =
        {
            .what = "The database has lost uploads that the spool no longer keeps.",
            .why = "A standby was promoted before it had them, or a backup was restored that is "
                   "older than spool.keep, "
                   "or the collector writes to another database than before.",
            .fix = "They are on the former primary, if anywhere (docs/postgresql.md#failover). "
                   "Raise spool.keep for the next time. The finding goes when the collector is "
                   "restarted.",
        },
    TEXT(UPLOADS_REFUSED) =
        {
            .what = "Many uploads are being refused.",
            .why = "They are lost, except those that the agent sends again.",
            .fix = "The reason says what is wrong (docs/metrics.md#reasons-of-refusals); the log "
                   "has a line per site and reason (docs/operations.md#uploads-are-refused).",
        },
    TEXT(UPLOADS_REFUSED_EARLIER) =
        {
            .what = "Many uploads were refused since the collector's start.",
            .why = "The cause may come back, or may still be there.",
            .fix = "Read the log's lines \"uploads refused\" "
                   "(docs/operations.md#uploads-are-refused).",
        },
    TEXT(UPLOADS_QUARANTINED) =
        {
            .what = "The database refused uploads as data.",
            .why = "They are safe in the spool's directory, and in no number.",
            .fix = "fleetprof spool dead-letters list "
                   "(docs/operations.md#a-record-is-quarantined)",
        },
    TEXT(SITE_SILENT) =
        {
            .what = "A site has had no upload for an hour.",
            .why = "Either nobody visits it, or its pages are not profiled any more.",
            .fix = "fleetprof doctor URL, with the URL of a page of the site.",
        },
    TEXT(SEALING_LATE) =
        {
            .what = "Hours are not sealed in time.",
            .why = "Queries become slower with every hour, and the database grows.",
            .fix = "Read the log's lines \"sealing or housekeeping failed\" (docs/log.md), and see "
                   "whether the "
                   "database keeps up.",
        },
    TEXT(VERSIONS_DIFFER) =
        {
            .what = "Collectors and schema are not of one version.",
            .why = "An upgrade was not finished, or a collector was not restarted.",
            .fix = "Finish the upgrade (docs/operations.md#upgrades).",
        },
    TEXT(DATABASE_READING) =
        {
            .what = "PostgreSQL does not let this user read the numbers.",
            .why = "Nothing is known about the database; collectors have a role of their own.",
            .fix = "Connect as a reader: -d 'dbname=fleetprof user=fleetprof_reader'. With peer "
                   "authentication, map the system user in pg_ident.conf: fleetprof USER "
                   "fleetprof_reader.",
        },
    TEXT(QUESTION_FAILED) =
        {
            .what = "A question to the database fails.",
            .why = "Uploads are counted, and the report, the command line and dashboards cannot "
                   "show them.",
            .fix = "Do what is said after the database's message. `fleetprof migrate --repair` "
                   "makes functions, views and their rights again; it needs the rights of a "
                   "migration.",
        },
    TEXT(QUESTION_UNASKED) =
        {
            .what = "No question could be asked as a reader.",
            .why = "Whether the numbers can be read is unknown; collectors have a role of their "
                   "own, which cannot.",
            .fix = "Let this system user in as fleetprof_reader, in pg_ident.conf: fleetprof USER "
                   "fleetprof_reader. Or give status another login with -d.",
        },
    TEXT(SCHEMA_INCOMPLETE) =
        {
            .what = "Functions or views of fleetprof are missing in the database.",
            .why = "Somebody dropped them, or restored a part of a dump; questions that need them "
                   "fail.",
            .fix = "Run `fleetprof migrate`; it makes again what is missing.",
        },
    TEXT(TIMEZONE_UNKNOWN) =
        {
            .what = "PostgreSQL does not know the time zone of a site.",
            .why = "Trends by day take the days of the zone that the site had before, or of UTC; "
                   "if that zone is the unknown one, they fail.",
            .fix = "Update the time zones of the database's machine (package tzdata), or write a "
                   "name of pg_timezone_names into `sites[].timezone`. Then: systemctl reload "
                   "fleetprofd.",
        },
    TEXT(UPLOAD_FAILED) =
        {
            .what = "An upload to the collector's own listener is refused.",
            .why = "Uploads of the site's visitors are also refused.",
            .fix = "Do what is said after the reason. If the configuration was changed: systemctl "
                   "reload fleetprofd. If another program answers: compare `listen` with ss -ltnp.",
        },
};
