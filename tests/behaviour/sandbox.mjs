// SPDX-License-Identifier: Apache-2.0
/**
 * Runs lines of the manual as they stand. They need root, /etc, /usr/bin and fixed ports, so they run in namespaces of
 * their own, with copy-on-write layers over those folders; the machine outside does not change.
 */
import { repository, run, temporaryDir } from './stack.mjs';

/** Makes the sandbox: $1 is an empty folder. Leaves a running, empty Debian cluster with peer authentication. */
const preparation = `
set -euo pipefail
mount -t tmpfs tmpfs "$1"
layer() {
    mkdir -p "$1$2/upper" "$1$2/work"
    mount -t overlay overlay -o "lowerdir=$2,upperdir=$1$2/upper,workdir=$1$2/work" "$2"
}
for folder in /etc /usr/bin /usr/share /var; do layer "$1" "$folder"; done
for folder in /run /etc/postgresql /var/lib/postgresql; do mount -t tmpfs tmpfs "$folder"; done
chown postgres:postgres /var/lib/postgresql
rm -rf /var/lib/fleetprof /etc/fleetprof
! getent passwd fleetprof >/dev/null || userdel fleetprof
# A new network namespace has its loopback down.
perl -MSocket -e 'socket(S, PF_INET, SOCK_DGRAM, 0); $up = pack("a16s", "lo", 1); ioctl(S, 0x8914, $up) or die $!'
version=$(ls /usr/lib/postgresql | sort -V | tail -n 1)
pg_createcluster --start --start-conf=manual "$version" main >&2
`;

const namespaces = ['unshare', '--mount', '--net', '--pid', '--fork'];

/** @returns {Promise<string | false>} what is missing for a sandbox on this machine */
export async function sandboxMissing() {
  const { code, stderr } = await run([...namespaces, 'sh', '-ec', `
    mount -t tmpfs tmpfs /run
    mkdir /run/upper /run/work
    mount -t overlay overlay -o lowerdir=/etc,upperdir=/run/upper,workdir=/run/work /etc`]);
  return code !== 0 && `needs root, namespaces and overlays: ${stderr}`;
}

/**
 * Runs a script in a new sandbox, in the folder of the source; its first failing command ends it.
 * @param {string[]} script
 * @param {number} [limitS]
 */
export function runInSandbox(script, limitS = 120) {
  return run([...namespaces, '--kill-child', '--mount-proc', 'timeout', '-k', '5', String(limitS),
    'bash', '-c', [preparation, `cd '${repository}'`, ...script].join('\n'), 'sandbox', temporaryDir('sandbox')]);
}
