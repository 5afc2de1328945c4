/** What `nginx -t` says about mistakes: which directive, what is wrong, what would be right. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';

import { repository, temporaryDir } from '../stack.mjs';
import { moduleFile, preloadSanitizer } from './nginx.mjs';

const dir = temporaryDir('nginx-t');
before(preloadSanitizer);

/**
 * @param {string} lines what stands in http { … }
 * @returns {{ ok: boolean, says: string }}
 */
function check(lines) {
  const file = `${dir}/nginx.conf`;
  fs.writeFileSync(file, `load_module ${moduleFile};
error_log stderr;
pid ${dir}/nginx.pid;
events {}
http { access_log off; client_body_temp_path ${dir}; proxy_temp_path ${dir}; fastcgi_temp_path ${dir};
uwsgi_temp_path ${dir}; scgi_temp_path ${dir};
${lines}
}`);
  const { status, stderr } = spawnSync('nginx', ['-t', '-e', 'stderr', '-p', dir, '-c', file], { encoding: 'utf8' });
  return { ok: status === 0, says: stderr };
}

const member = 'it is not a structured-field dictionary member (RFC 9651); write a lower-case key, alone or with a '
  + 'value such as "?1", "lazy", "2.5" or "(a b)"';
const rate = 'it is not a rate; write a percentage such as "1%" or "0.05%", or a fraction such as "1/2000"';
const noPath = 'an origin ends before the path; leave out everything from the first "/" after the host';
const alone = 'it has to stand alone; leave it out, or the others';
const longOrigin = `https://${'a'.repeat(1000)}.example`;

/** @type {[line: string, message: string][]} */
const mistakes = [
  ['fleetprof', 'invalid number of arguments in "fleetprof" directive'],
  ['fleetprof on off', 'invalid number of arguments in "fleetprof" directive'],
  ['fleetprof yes', 'invalid parameter "yes" in "fleetprof": it is neither "on" nor "off" nor a variable'],
  ['fleetprof $nosuch', 'unknown "nosuch" variable'],
  ['fleetprof on; fleetprof off', '"fleetprof" directive is duplicate'],
  ['fleetprof_sample', 'invalid number of arguments in "fleetprof_sample" directive'],
  ['fleetprof_sample 1% key=a x', 'invalid number of arguments in "fleetprof_sample" directive'],
  ['fleetprof_sample 0.01', `invalid parameter "0.01" in "fleetprof_sample": ${rate}`],
  ['fleetprof_sample 1/0', `invalid parameter "1/0" in "fleetprof_sample": ${rate}`],
  ['fleetprof_sample 101%',
    'invalid parameter "101%" in "fleetprof_sample": it is more than everything; write at most "100%"'],
  ['fleetprof_sample 1/2000000', 'invalid parameter "1/2000000" in "fleetprof_sample": it is below one in a million, '
    + 'which is the finest rate; write at least "0.0001%", or "0%" for none'],
  ['fleetprof_sample 1% $remote_addr', 'invalid parameter "$remote_addr" in "fleetprof_sample": it is not a key; '
    + 'write for example "key=$cookie_visitor"'],
  ['fleetprof_sample 1% key=', 'invalid parameter "key=" in "fleetprof_sample": it is not a key; '
    + 'write for example "key=$cookie_visitor"'],
  ['fleetprof_sample $nosuch', 'unknown "nosuch" variable'],
  ['fleetprof_sample 1%; fleetprof_sample 2%', '"fleetprof_sample" directive is duplicate'],
  ['fleetprof_policy', 'invalid number of arguments in "fleetprof_policy" directive'],
  ['fleetprof_policy JS-Profiling', `invalid parameter "JS-Profiling" in "fleetprof_policy": ${member}`],
  ['fleetprof_policy js-profiling, a', `invalid parameter "js-profiling," in "fleetprof_policy": ${member}`],
  ['fleetprof_policy ""', 'invalid parameter "" in "fleetprof_policy": it is empty; name a member such as "js-profiling"'],
  ['fleetprof_policy a b a', 'invalid parameter "a" in "fleetprof_policy": its key is named twice; keep one'],
  ['fleetprof_policy js-profiling=true', 'invalid parameter "js-profiling=true" in "fleetprof_policy": "js-profiling" '
    + 'is a Boolean; write "js-profiling" or "js-profiling=?0"'],
  ['fleetprof_policy js-profiling-mode', 'invalid parameter "js-profiling-mode" in "fleetprof_policy": '
    + '"js-profiling-mode" is a token; write "js-profiling-mode=lazy" or "js-profiling-mode=eager"'],
  [`fleetprof_policy a=${'x'.repeat(1500)} b=${'x'.repeat(1500)}`,
    'in "fleetprof_policy": the members are longer than 2048 bytes; name fewer'],
  ['fleetprof_policy a; fleetprof_policy b', '"fleetprof_policy" directive is duplicate'],
  ['timing_allow_origin', 'invalid number of arguments in "timing_allow_origin" directive'],
  ['timing_allow_origin https://a.example/', `invalid parameter "https://a.example/" in "timing_allow_origin": ${noPath}`],
  ['timing_allow_origin a.example', 'invalid parameter "a.example" in "timing_allow_origin": it has no scheme; '
    + 'write it as "https://shop.example"'],
  ['timing_allow_origin https://A.example', 'invalid parameter "https://A.example" in "timing_allow_origin": browsers '
    + 'write origins in lower case and compare them exactly; write it in lower case'],
  ['timing_allow_origin https://*.example', 'invalid parameter "https://*.example" in "timing_allow_origin": "*" stands '
    + 'for every origin and can\'t be a part of one; name each origin, or use "*" alone'],
  ['timing_allow_origin https://a.example:443', 'invalid parameter "https://a.example:443" in "timing_allow_origin": '
    + 'browsers leave the scheme\'s default port out of an origin; leave it out, too'],
  ['timing_allow_origin "https://a.example https://b.example"', 'in "timing_allow_origin": it holds a comma or blank; '
    + 'write each origin as a parameter of its own'],
  ['timing_allow_origin https://$host', 'invalid parameter "https://$host" in "timing_allow_origin": a variable would '
    + 'let the request choose its own answer; write the origins out'],
  ['timing_allow_origin * https://a.example', `invalid parameter "*" in "timing_allow_origin": ${alone}`],
  ['timing_allow_origin https://a.example off', `invalid parameter "off" in "timing_allow_origin": ${alone}`],
  [`timing_allow_origin ${longOrigin} ${longOrigin}.b ${longOrigin}.c`,
    'in "timing_allow_origin": the list is longer than 2048 bytes; name fewer origins'],
  ['timing_allow_origin off; timing_allow_origin off', '"timing_allow_origin" directive is duplicate'],
];

describe('mistakes', () => {
  for (const [line, message] of mistakes) {
    test(line.slice(0, 80), () => {
      const { ok, says } = check(`server { location / { ${line}; } }`);
      assert.equal(ok, false, says);
      assert.ok(says.includes(message), says);
    });
  }
});

const everything = `fleetprof on; fleetprof_sample 1/2000 key=$remote_addr; fleetprof_policy js-profiling;
timing_allow_origin https://a.example null;`;

test('every directive may stand in every context', () => {
  const { ok, says } = check(`${everything} server { ${everything} location / { ${everything}
    if ($request_method = POST) { ${everything} } } }`);
  assert.ok(ok, says);
});

test('the annotated example is a valid configuration', () => {
  const example = fs.readFileSync(path.join(repository, 'config/nginx.conf.example'), 'utf8');
  const { ok, says } = check(example.slice(example.indexOf('http {') + 'http {'.length, example.lastIndexOf('}'))
    .replace('logs/access.log', `${dir}/access.log`));
  assert.ok(ok, says);
});

test('nothing may stand outside http', () => {
  const { ok, says } = check('} fleetprof on; events {');
  assert.equal(ok, false);
  assert.match(says, /"fleetprof" directive is not allowed here/);
});

test('an origin named twice is listed once, a configuration without the module is untouched', () => {
  const { ok, says } = check(`timing_allow_origin https://a.example https://a.example; fleetprof $fleetprof_sampled;
    server { listen unix:${dir}/s; }`);
  assert.ok(ok, says);
});
