// SPDX-License-Identifier: Apache-2.0
/**
 * The lines of the pages "Getting started", "Backup and restore" and "Upgrading", run as they stand: from packages to the
 * first hotspot of a page load in Chromium, and on, with real nginx, httpd, PostgreSQL and collector. What only a package manager and systemd can do is done
 * here with files of the build tree; tests/packages does it with the packages.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { runInSandbox, sandboxMissing } from '../behaviour/sandbox.mjs';
import { binDir, modulesDir, repository } from '../behaviour/stack.mjs';
import { fencedBlocks, inTab } from '../markdown.mjs';

/** @param {string} name */
const read = (name) => fs.readFileSync(path.join(repository, name), 'utf8');

// Another test reads the lines for containers.
const [gettingStarted] = read('docs/getting-started.md').split('\n## With containers\n');

const pages = {
  nginx: inTab(gettingStarted, 'nginx'),
  httpd: inTab(gettingStarted, 'httpd'),
  backup: read('docs/backup.md'),
  upgrading: read('docs/upgrading.md'),
};

/**
 * Returns what the page tells its readers to run, except the lines that add the repository: tests/behaviour/apt_repository.test.mjs does.
 * @param {string} page
 */
const commands = (page) => fencedBlocks(page).filter(({ language, text }) => language === 'sh' && !text.includes('/etc/apt/')).map(({ text }) => text);

/** Stands in for apt-get, systemctl and Debian's tools for httpd's configuration. */
const machine = `
apt-get() {
    install -m 755 '${binDir}/fleetprof' '${binDir}/fleetprofd' /usr/bin/
    id fleetprof 2>/dev/null || {
        useradd --system --no-create-home --shell /usr/sbin/nologin fleetprof
        useradd --system --no-create-home --shell /usr/sbin/nologin fleetprof-report
    }
    install -d /etc/fleetprof
    [ -e /etc/fleetprof/fleetprof.yaml ] || install -m 640 -g fleetprof /dev/null /etc/fleetprof/fleetprof.yaml
    install -d -m 700 -o fleetprof -g fleetprof /var/lib/fleetprof
    install -D -m 644 -t /usr/share/fleetprof/agent '${repository}'/agent/dist/*
    echo 'load_module ${modulesDir}/ngx_http_fleetprof_module.so;' >/etc/nginx/modules-enabled/50-mod-http-fleetprof.conf
    install -d /etc/apache2/sites-available
    [ ! -e /run/fleetprofd.test ] || systemctl restart fleetprofd
}
# NAME COMMAND…: ends the server, starts it and waits until it answers at $address.
restart() {
    stop "$1"
    "\${@:2}" &
    echo "$!" >"/run/$1.test"
    for i in {1..600}; do
        curl -fsS -o /dev/null "$address" 2>/dev/null && return
        kill -0 "$!" || break
        sleep 0.1
    done
    echo "$1 did not start" >&2
    return 1
}
stop() {
    [ -s "/run/$1.test" ] || return 0
    kill "$(cat "/run/$1.test")"
    tail --pid="$(cat "/run/$1.test")" -f /dev/null
}
systemctl() {
    case "$*" in
    'restart fleetprofd')
        address=http://127.0.0.1:8601/readyz restart fleetprofd setpriv --reuid=fleetprof --regid=fleetprof --init-groups \\
            $(sed -n 's/^ExecStart=//p' '${repository}/config/systemd/fleetprofd.service')
        ;;
    'restart nginx')
        address=http://localhost/work.js restart nginx nginx -g 'daemon off;'
        ;;
    'restart apache2')
        address=http://localhost/work.js restart apache2 apache2 -D FOREGROUND -f /etc/apache2/test.conf
        ;;
    *) echo "systemctl $*: unknown" >&2; return 1 ;;
    esac
}
uploads() { runuser -u postgres -- psql -At -c 'select coalesce(sum(uploads), 0) from fleetprof.sites()' fleetprof; }
apachectl() { apache2 -t -f /etc/apache2/test.conf; }
modules=(mpm_event authz_core alias mime dir proxy)
a2enmod() { modules+=("$@"); }
a2ensite() {
    {
        for module in "\${modules[@]}"; do echo "LoadModule \${module}_module /usr/lib/apache2/modules/mod_$module.so"; done
        echo 'LoadModule fleetprof_module ${modulesDir}/mod_fleetprof.so'
        echo 'ServerName machine'
        echo 'Listen 80'
        echo 'User www-data'
        echo 'Group www-data'
        echo 'TypesConfig /etc/mime.types'
        echo 'ErrorLog /run/apache2-error.log'
        echo 'PidFile /run/apache2.pid'
        echo "Include /etc/apache2/sites-available/$1.conf"
    } >/etc/apache2/test.conf
}
`;

/** The step between the blocks of a page that people do in their browsers. */
const visit = `before=$(uploads)
'${process.execPath}' '${repository}/tests/browser/visit.mjs' http://localhost/test.html
for i in {1..300}; do [ "$(uploads)" = "$before" ] || break; sleep 0.1; done
[ "$(uploads)" -gt "$before" ]`;

/**
 * Loses the whole cluster after a backup and one more upload. After the restore, the collector counts that one again,
 * with the next one.
 */
const lossAndRestore = () => {
  const [backup, restore, check] = commands(pages.backup);
  const [letIn] = commands(pages.nginx).filter((block) => block.includes('pg_hba') || block.includes('hba_file'));
  return [
    backup,
    `send() { runuser -u fleetprof -- fleetprof import --wait --site shop - <"${repository}/tests/data/$1"; }
    before=$(uploads)
    send fibonacci-recursion.json
    [ "$(uploads)" = $((before + 1)) ]
    pg_dropcluster --stop "$version" main
    pg_createcluster --start --start-conf=manual "$version" main >&2`,
    restore,
    letIn,
    `send sort-callback--markersflag.json
    [ "$(uploads)" = $((before + 2)) ]`,
    check,
  ];
};

/** @param {string} block */
const asks = (block) => block.startsWith('fleetprof top');

test('the lines for both servers end in the first hotspot', { timeout: 300_000 }, async (t) => {
  const missing = await sandboxMissing();
  if (missing) return t.skip(missing);
  const withVisit = (/** @type {string[]} */ blocks) => blocks.flatMap((block) => (
    asks(block) ? [visit, block] : [block]));
  const own = commands(pages.httpd).filter((block) => !commands(pages.nginx).includes(block) || /^fleetprof (doctor|top)/.test(block));
  const { code, stdout, stderr } = await runInSandbox([
    machine,
    ...withVisit(commands(pages.nginx)),
    ...lossAndRestore(),
    ...commands(pages.upgrading),
    'stop nginx; echo "== httpd"',
    ...withVisit(own.filter((block) => !block.startsWith('apt-get'))),
  ], 280);
  assert.equal(code, 0, `${stdout}${stderr}`);
  for (const said of stdout.split('== httpd')) assert.match(said, /^.*FUNCTION.*\n.*countPrimes/m, `${stdout}${stderr}`);
});
