// SPDX-License-Identifier: Apache-2.0
/** The messages of `nginx -t` about mistakes: which directive, what is wrong, what would be right. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';

import { trialToken } from '../headers/cases/trials.mjs';
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
const experiment = 'it is not an experiment; write its name and its arms with their weights, such as "chat=on:99,off:1"';
const noPath = 'an origin ends before the path; leave out everything from the first "/" after the host';
const alone = 'it must be the only parameter; remove it or the others';
const randomKey = 'make one with "openssl rand -hex 32"';

/** The path of a file that holds this text. */
const fileWith = (/** @type {string} */ name, /** @type {string} */ text) => {
  fs.writeFileSync(`${dir}/${name}`, text);
  return `${dir}/${name}`;
};
const keyA = '0'.repeat(64);
const goodKey = fileWith('good.key', `${keyA}\n`);
const longOrigin = `https://${'a'.repeat(1000)}.example`;

/** @type {(directive: string, wrong: string, words: string[]) => [line: string, message: string]} */
const notAChoice = (directive, wrong, words) => [`${directive} ${wrong}`,
  `invalid parameter "${wrong}" in "${directive}": it is not one of ${words.map((word) => `"${word}"`).join(', ')}`];

/** @type {(name: string, text: string, message: string) => [line: string, message: string]} */
const badKey = (name, text, message) => [`fleetprof_token_key ${fileWith(name, text)}`,
  `/${name}" in "fleetprof_token_key": ${message}`];

/** @type {[line: string, message: string][]} */
const mistakes = [
  ['fleetprof', 'invalid number of arguments in "fleetprof" directive'],
  ['fleetprof on off', 'invalid number of arguments in "fleetprof" directive'],
  ['fleetprof yes', 'invalid parameter "yes" in "fleetprof": it is neither "on" nor "off" nor a variable'],
  ['fleetprof $nosuch; fleetprof_sample 1%', 'unknown "nosuch" variable'],
  ['fleetprof on; fleetprof off', '"fleetprof" directive is duplicate'],
  ['fleetprof_sample', 'invalid number of arguments in "fleetprof_sample" directive'],
  ['fleetprof_sample 1% key=a x', 'invalid number of arguments in "fleetprof_sample" directive'],
  ['fleetprof_sample 0.01', `invalid parameter "0.01" in "fleetprof_sample": ${rate}`],
  ['fleetprof_sample 1/0', `invalid parameter "1/0" in "fleetprof_sample": ${rate}`],
  ['fleetprof_sample 101%',
    'invalid parameter "101%" in "fleetprof_sample": it is above 100 %; write at most "100%"'],
  ['fleetprof_sample 1/2000000', 'invalid parameter "1/2000000" in "fleetprof_sample": it is below one in a million, '
    + 'which is the finest rate; write at least "0.0001%", or "0%" for none'],
  ['fleetprof_sample 1% $remote_addr', 'invalid parameter "$remote_addr" in "fleetprof_sample": it is not a key; '
    + 'write for example "key=$cookie_visitor"'],
  ['fleetprof_sample 1% key=', 'invalid parameter "key=" in "fleetprof_sample": it is not a key; '
    + 'write for example "key=$cookie_visitor"'],
  ['fleetprof_sample $nosuch', 'unknown "nosuch" variable'],
  ['fleetprof_sample 1%; fleetprof_sample 2%', '"fleetprof_sample" directive is duplicate'],
  ['fleetprof_arms', 'invalid number of arguments in "fleetprof_arms" directive'],
  ['fleetprof_arms chat', `invalid parameter "chat" in "fleetprof_arms": ${experiment}`],
  ['fleetprof_arms key=$remote_addr', `invalid parameter "key=$remote_addr" in "fleetprof_arms": ${experiment}`],
  ['fleetprof_arms chat=on:1,off:1 off', `invalid parameter "off" in "fleetprof_arms": ${experiment}`],
  ['fleetprof_arms Chat=on:1,off:1', 'invalid parameter "Chat=on:1,off:1" in "fleetprof_arms": the experiment\'s name is not 1 to 16 of a-z 0-9 _'],
  ['fleetprof_arms chat=on:0,off:1', 'invalid parameter "chat=on:0,off:1" in "fleetprof_arms": a weight is not a whole number from 1 to 10000'],
  ['fleetprof_arms chat=on:1', 'in "fleetprof_arms": there is only one arm; write at least two, such as "chat=on:99,off:1"'],
  ['fleetprof_arms x=a:1,a:2', 'in "fleetprof_arms": an arm is there twice; keep one'],
  ['fleetprof_arms x=a:1,ab:1', 'in "fleetprof_arms": an arm\'s name begins with another\'s, so a pattern such as "chat=on%" would find both; rename one'],
  ['fleetprof_arms hero=a:1,b:1 superhero=a:1,b:1', 'in "fleetprof_arms": the experiment\'s name ends in another\'s, so a pattern such as "%hero=b%" would find both; rename one'],
  ['fleetprof_arms x=a:1,b:1 x=a:1,b:1', 'in "fleetprof_arms": the experiment is there twice; keep one'],
  ['fleetprof_arms a=x:1,y:1 b=x:1,y:1 c=x:1,y:1 d=x:1,y:1 e=x:1,y:1', 'invalid parameter "e=x:1,y:1" in "fleetprof_arms": there are more than 4 experiments'],
  ['fleetprof_arms a=x:1,y:1 key=', 'invalid parameter "key=" in "fleetprof_arms": write one key, for example "key=$cookie_visitor"'],
  ['fleetprof_arms a=x:1,y:1 key=$nosuch', 'unknown "nosuch" variable'],
  ['fleetprof_arms off; fleetprof_arms off', '"fleetprof_arms" directive is duplicate'],
  ['fleetprof_arms chat=on:1,off:1; set $x $fleetprof_arm_chta', 'unknown "fleetprof_arm_chta" variable'],
  ['fleetprof on; fleetprof_sample 1%; fleetprof_arms chat=on:1,off:1', `"fleetprof_arms" needs "fleetprof_token_key" where the module is on, as in ${dir}/nginx.conf:7: the collector believes only arms that are signed`],
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
  notAChoice('fleetprof_unsampled', 'Negative', ['negative', 'omit']),
  notAChoice('fleetprof_conflict', 'both', ['upstream', 'local']),
  notAChoice('fleetprof_not_modified', 'never', ['auto', 'send', 'omit']),
  notAChoice('fleetprof_cacheable', '1', ['on', 'off']),
  notAChoice('fleetprof_always', '$arg_x', ['on', 'off']),
  notAChoice('fleetprof_server_timing', 'yes', ['on', 'off']),
  ['fleetprof_origin_trial', 'invalid number of arguments in "fleetprof_origin_trial" directive'],
  ['fleetprof_origin_trial off; fleetprof_origin_trial off', '"fleetprof_origin_trial" directive is duplicate'],
  ['fleetprof_origin_trial $trial', 'invalid parameter "$trial" in "fleetprof_origin_trial": it is not base64; '],
  [`fleetprof_origin_trial "${trialToken('a')}\r\nX: y"`, '" in "fleetprof_origin_trial": it is not base64; '],
  [`fleetprof_origin_trial ${trialToken('a')} off`, 'invalid parameter "off" in "fleetprof_origin_trial": it is longer or shorter '
    + 'than it says itself; copy all of the token'],
  [`fleetprof_origin_trial ${trialToken('abcdef').slice(0, -4)}`, 'in "fleetprof_origin_trial": it is longer or shorter'],
  [`fleetprof_origin_trial B${trialToken('a').slice(1)}`, 'in "fleetprof_origin_trial": it does not begin as tokens'],
  [`fleetprof_origin_trial ${trialToken('a')} ${trialToken('a')}`, 'in "fleetprof_origin_trial": the token is named twice; keep one'],
  [`fleetprof_origin_trial ${Array.from({ length: 20 }, (_, i) => trialToken(`${i}${'x'.repeat(200)}`)).join(' ')}`,
    'in "fleetprof_origin_trial": the list is longer than 4096 bytes; name fewer tokens'],
  ...['fleetprof_unsampled omit', 'fleetprof_conflict local', 'fleetprof_not_modified send', 'fleetprof_cacheable on',
    'fleetprof_always on', 'fleetprof_server_timing on', 'fleetprof_types *', 'fleetprof_site a', 'fleetprof_token_key off', 'fleetprof_reports /r'].flatMap((line) => {
    const [directive, word] = line.split(' ');
    return /** @type {[string, string][]} */ ([
      [`${line}; ${line}`, `"${directive}" directive is duplicate`],
      [directive, `invalid number of arguments in "${directive}" directive`],
      ...(word === '*' ? [] : [[`${line} x`, `invalid number of arguments in "${directive}" directive`]])]);
  }),
  ['fleetprof_types html',
    'invalid parameter "html" in "fleetprof_types": it is not a media type; write for example "text/html"'],
  ['fleetprof_types text/html text/*', 'invalid parameter "text/*" in "fleetprof_types": "*" stands for every type and '
    + 'can\'t be a part of one; name each type, or use "*" alone'],
  ['fleetprof_types "text/html; charset=utf-8"', 'in "fleetprof_types": types are compared without their parameters; '
    + 'leave out everything from the ";"'],
  ['fleetprof_types text/html *', `invalid parameter "*" in "fleetprof_types": ${alone}`],
  ['fleetprof_site "my shop"', 'invalid parameter "my shop" in "fleetprof_site": it is not a site\'s name; write 1 to 64 of '
    + 'A-Z a-z 0-9 . _ - as in the collector\'s configuration'],
  ['fleetprof_site ""', 'invalid parameter "" in "fleetprof_site": it is not a site\'s name'],
  [`fleetprof_site ${'s'.repeat(65)}`, 'in "fleetprof_site": it is not a site\'s name'],
  ['fleetprof_token_key nosuch.key', 'invalid parameter "nosuch.key" in "fleetprof_token_key": the file can\'t be read '
    + '(2: No such file or directory)'],
  [`fleetprof_token_key ${dir}`, 'in "fleetprof_token_key": the file can\'t be read (21: Is a directory)'],
  badKey('empty.key', '# nothing\n', `there is no key in the file; ${randomKey}`),
  badKey('text.key', 'secret\n', `in line 1: it is not a key in hexadecimal digits, two per byte; ${randomKey}`),
  badKey('short.key', `# old\n${'0'.repeat(62)}\n`, `in line 2: the key is shorter than 32 bytes; ${randomKey}`),
  badKey('long.key', `${'0'.repeat(258)}\n`, `in line 1: the key is longer than 128 bytes; ${randomKey}`),
  badKey('twice.key', `${keyA}\n${keyA}\n`, 'in line 2: the key is in the file twice; keep one'),
  badKey('huge.key', '\n'.repeat(16_385), 'the file is longer than 16384 bytes; name a file with one key per line'),
  [`fleetprof on; fleetprof_sample 1%; fleetprof_token_key ${goodKey}`, '"fleetprof_token_key" needs "fleetprof_site" at the same level or above '
    + 'it; name the site as the collector\'s configuration does'],
  ['fleetprof_reports http://collect.example/r', 'invalid parameter "http://collect.example/r" in "fleetprof_reports": '
    + 'browsers send reports only over https; write "https://"'],
  ['fleetprof_reports on', 'invalid parameter "on" in "fleetprof_reports": it is neither a URL nor a path; write for '
    + 'example "https://collect.example/v1/reports/KEY" or "/v1/reports/KEY"'],
  ['fleetprof_reports /r/$host', 'invalid parameter "/r/$host" in "fleetprof_reports": a variable would let the request '
    + 'choose where reports go; write the URL out'],
  ['timing_allow_origin', 'invalid number of arguments in "timing_allow_origin" directive'],
  ['timing_allow_origin https://a.example/', `invalid parameter "https://a.example/" in "timing_allow_origin": ${noPath}`],
  ['timing_allow_origin a.example', 'invalid parameter "a.example" in "timing_allow_origin": it has no scheme; '
    + 'write it as "https://shop.example"'],
  ['timing_allow_origin https://A.example', 'invalid parameter "https://A.example" in "timing_allow_origin": browsers '
    + 'write origins in lower case and compare them exactly; write it in lower case'],
  ['timing_allow_origin https://*.example', 'invalid parameter "https://*.example" in "timing_allow_origin": "*" stands '
    + 'for every origin and can\'t be a part of one; name each origin, or use "*" alone'],
  ['timing_allow_origin https://a.example:443', 'invalid parameter "https://a.example:443" in "timing_allow_origin": '
    + 'browsers leave the scheme\'s default port out of an origin; also leave it out'],
  ['timing_allow_origin "https://a.example https://b.example"', 'in "timing_allow_origin": it contains a comma or space; '
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
fleetprof_unsampled omit; fleetprof_conflict local; fleetprof_not_modified omit; fleetprof_cacheable on; fleetprof_always on;
fleetprof_types Text/HTML image/svg+xml; fleetprof_site shop; fleetprof_token_key good.key;
fleetprof_reports /v1/reports/pk; fleetprof_arms chat=on:99,off:1 hero=a:1,b:1 key=$remote_addr;
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

test('a key needs a site only where the module is on', () => {
  const { ok, says } = check(`fleetprof_token_key ${goodKey}; server { location / { fleetprof on;
    fleetprof_sample 1%; fleetprof_site a; } }`);
  assert.ok(ok, says);
});

/** @type {[name: string, lines: string, line: number][]} */
const withoutRate = [
  ['a location', 'server { location / {\nfleetprof on; } }', 8],
  ['a server', 'server { fleetprof on;\nlocation / { fleetprof_sample 1%; } }', 7],
  ['all servers but one', 'fleetprof on; server { fleetprof_sample 1%; }\nserver { }', 7],
  ['a variable', 'map $uri $v { default 1; } server { location / {\nfleetprof $v; } }', 8],
  ['an if', 'server { location / {\nif ($arg_x) {\nfleetprof on; } } }', 9],
  ['a nested location', 'server { location / { location /a {\nfleetprof on; } } }', 8],
];

for (const [name, lines, line] of withoutRate) {
  test(`switched on without a rate: ${name}`, () => {
    const { ok, says } = check(lines);
    assert.equal(ok, false, says);
    assert.ok(says.includes('"fleetprof" is on but there is no "fleetprof_sample" at the same level or above it: '
      + `write for example "fleetprof_sample 1%;" in ${dir}/nginx.conf:${line}`), says);
  });
}

test('a rate above the switch will do, and where it is off none is needed', () => {
  const { ok, says } = check(`fleetprof_sample 1%; server { location / { fleetprof on; } location /x { fleetprof off; } }`);
  assert.ok(ok, says);
  assert.ok(check('fleetprof off; server { }').ok);
});

test('nothing may stand outside http', () => {
  const { ok, says } = check('} fleetprof on; events {');
  assert.equal(ok, false);
  assert.match(says, /"fleetprof" directive is not allowed here/);
});

test('an origin named twice is listed once, a configuration without the module is untouched', () => {
  const { ok, says } = check(`timing_allow_origin https://a.example https://a.example; fleetprof $fleetprof_sampled;
    fleetprof_sample 1%; server { listen unix:${dir}/s; }`);
  assert.ok(ok, says);
});
