/**
 * The lines of operations.md, "Setting up", run as they stand: from Debian's PostgreSQL with peer authentication to a
 * counted upload. They need root, /etc, /usr/bin and fixed ports, so they run in their own namespaces with
 * copy-on-write layers over those folders; the machine outside does not change.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fencedBlocks, section } from '../markdown.mjs';
import { binDir, repository, run, temporaryDir } from './stack.mjs';

/** Makes the sandbox: $1 is an empty folder. Leaves a running, empty Debian cluster. */
const sandbox = `
set -euo pipefail
mount -t tmpfs tmpfs "$1"
layer() {
    mkdir -p "$1$2/upper" "$1$2/work"
    mount -t overlay overlay -o "lowerdir=$2,upperdir=$1$2/upper,workdir=$1$2/work" "$2"
}
for folder in /etc /usr/bin /var/lib /var/log; do layer "$1" "$folder"; done
for folder in /run /etc/postgresql /var/lib/postgresql; do mount -t tmpfs tmpfs "$folder"; done
chown postgres:postgres /var/lib/postgresql
rm -rf /var/lib/fleetprof /etc/fleetprof
! getent passwd fleetprof >/dev/null || userdel fleetprof
# A new network namespace has its loopback down.
perl -MSocket -e 'socket(S, PF_INET, SOCK_DGRAM, 0); $up = pack("a16s", "lo", 1); ioctl(S, 0x8914, $up) or die $!'
version=$(ls /usr/lib/postgresql | sort -V | tail -n 1)
pg_createcluster --start --start-conf=manual "$version" main >&2
`;

/** Additions to a block for steps that a person would do by looking or in a second terminal. */
const around = [
  // In the foreground it would end the script.
  { has: 'setpriv ', wrap: (/** @type {string} */ text) => `${text} &` },
  { has: '/readyz', wrap: (/** @type {string} */ text) => `for i in {1..100}; do ${text} && break; sleep 0.1; done` },
];

test('the lines of "Setting up" end in a counted upload', async (t) => {
  const probe = await run(['unshare', '--mount', '--net', '--pid', '--fork', 'sh', '-ec', `
    mount -t tmpfs tmpfs /run
    mkdir /run/upper /run/work
    mount -t overlay overlay -o lowerdir=/etc,upperdir=/run/upper,workdir=/run/work /etc`]);
  if (probe.code !== 0) return t.skip(`needs root, namespaces and overlays: ${probe.stderr}`);

  const page = fs.readFileSync(path.join(repository, 'docs/operations.md'), 'utf8');
  const blocks = fencedBlocks(section(page, '## Setting up')).filter(({ language }) => language === 'sh');
  assert.ok(blocks.length >= 6, 'the page has lost its blocks');
  const script = blocks.map(({ text, line }) => {
    const here = text.replaceAll('build/bin', binDir);
    const wrapped = around.find(({ has }) => text.includes(has))?.wrap(here) ?? here;
    return `echo "== docs/operations.md:${line}" >&2\n${wrapped}`;
  });

  const { code, stdout, stderr } = await run([
    'unshare', '--mount', '--net', '--pid', '--fork', '--kill-child', '--mount-proc',
    'timeout', '-k', '5', '120',
    'bash', '-c', [sandbox, `cd '${repository}'`, ...script].join('\n'), 'setup', temporaryDir('setup'),
  ]);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^.*FUNCTION.*\n.*http.*$/m, `no function was counted\n${stdout}${stderr}`);
});
