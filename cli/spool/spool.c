/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleetprof spool: a collector's spool, and what was refused.
 */
#include "cli/spool/spool.h"
#include "cli/kit/sub_command.h"

static const struct fp_sub_command members[] = {
    {{"inspect", NULL}, "the files of a spool and their records", fp_spool_inspect_command},
    {{"verify", NULL}, "check every record of a spool", fp_spool_verify_command},
    {{"dead-letters", "list"}, "what was refused, and why", fp_spool_list_command},
    {{"dead-letters", "show"}, "one of them, or its body", fp_spool_show_command},
    {{"dead-letters", "replay"}, "upload them again", fp_spool_replay_command},
};

enum fp_exit fp_spool_command(int argc, char **argv)
{
    const struct fp_command_family family = {
        .name = "spool",
        .summary = "A collector's spool and what was refused.",
        .members = members,
        .count = sizeof(members) / sizeof(members[0]),
    };
    return fp_command_family_run(&family, argc, argv);
}
