// SPDX-License-Identifier: Apache-2.0
/** The messages of `apachectl -t` about mistakes: which directive, what is wrong, what would be right. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { trialToken } from '../headers/cases/trials.mjs';
import { exchange, linesOf, requestBytes } from '../headers/wire.mjs';
import { repository } from '../stack.mjs';
import { configuration, httpdCommand, moduleFile, openDir, sanitizerEnvironment, startHttpd } from './httpd.mjs';

const dir = openDir('httpd-t');
/** A key file that the children could not read: httpd reads it before it gives its rights up. */
const keyFile = (/** @type {string} */ name, /** @type {string} */ text) => {
  fs.writeFileSync(`${dir}/${name}`, text, { mode: 0o600 });
  return `${dir}/${name}`;
};
const key = '0123456789abcdef'.repeat(4);
const goodKey = keyFile('good.key', `# first\n\n${key}\n`);

/**
 * @param {string} lines
 * @returns {{ ok: boolean, says: string }}
 */
function check(lines) {
  const text = configuration({ dir, port: 1, conf: lines, modules: ['alias', 'rewrite'] });
  const [program, ...args] = httpdCommand(dir, text);
  const { status, stderr } = spawnSync(program, [...args, '-t'],
    { encoding: 'utf8', env: { ...process.env, ...sanitizerEnvironment() } });
  const log = `${dir}/error.log`;
  const logged = fs.existsSync(log) ? fs.readFileSync(log, 'utf8') : '';
  fs.rmSync(log, { force: true });
  return { ok: status === 0, says: stderr + logged };
}

const member = 'it is not a structured-field dictionary member (RFC 9651); write a lower-case key, alone or with a '
  + 'value such as "?1", "lazy", "2.5" or "(a b)"';
const rate = 'it is not a rate; write a percentage such as "1%" or "0.05%", or a fraction such as "1/2000"';
const experiment = 'it is not an experiment; write its name and its arms with their weights, such as "chat=on:99,off:1"';
const alone = 'it must be the only parameter; remove it or the others';
const noExpression = 'an expression would let the request choose its own answer; write the origins out';
const notAKey = 'it is not a key; write for example "key=%{reqenv:VISITOR}"';
const longOrigin = `https://${'a'.repeat(1000)}.example`;
const invalid = (/** @type {string} */ parameter, /** @type {string} */ directive, /** @type {string} */ reason) => (
  `invalid parameter "${parameter}" in "${directive}": ${reason}`);

/** @type {[line: string, message: string][]} */
const mistakes = [
  ['FleetProf', 'FleetProf takes one argument, "on", "off" or "expr=CONDITION"'],
  ['FleetProf on off', 'FleetProf takes one argument'],
  ['FleetProf yes', invalid('yes', 'FleetProf', 'it is neither "on" nor "off" nor an expression such as '
    + '"expr=-T reqenv(\'PROFILE\')"')],
  ['FleetProf expr=(', invalid('(', 'FleetProf', 'syntax error, unexpected')],
  ['FleetProfSample', 'FleetProfSample takes 1-2 arguments, a rate such as "1%", "1/2000" or "expr=EXPRESSION", and '
    + 'perhaps "key=EXPRESSION"'],
  ['FleetProfSample 1% key=a x', 'FleetProfSample takes 1-2 arguments'],
  ['FleetProfSample 0.01', invalid('0.01', 'FleetProfSample', rate)],
  ['FleetProfSample 1/0', invalid('1/0', 'FleetProfSample', rate)],
  ['FleetProfSample %{reqenv:RATE}', invalid('%{reqenv:RATE}', 'FleetProfSample', rate)],
  ['FleetProfSample 101%', invalid('101%', 'FleetProfSample', 'it is above 100 %; write at most "100%"')],
  ['FleetProfSample 1/2000000', invalid('1/2000000', 'FleetProfSample', 'it is below one in a million, which is the '
    + 'finest rate; write at least "0.0001%", or "0%" for none')],
  ['FleetProfSample "expr=%{nosuch:x}"', 'in "FleetProfSample": Function \'nosuch\' does not exist'],
  ['FleetProfSample 1% %{reqenv:VISITOR}', invalid('%{reqenv:VISITOR}', 'FleetProfSample', notAKey)],
  ['FleetProfSample 1% key=', invalid('key=', 'FleetProfSample', notAKey)],
  ['FleetProfSample 1% key=expr=', 'in "FleetProfSample": an expression must not be empty; leave it out, or write one'],
  ['FleetProfSample expr=', 'in "FleetProfSample": an expression must not be empty; leave it out, or write one'],
  ['FleetProfSample 1% "key=%{nosuch:x}"', 'in "FleetProfSample": Function \'nosuch\' does not exist'],
  ['FleetProfArms', 'FleetProfArms takes "off", or one or more experiments such as "chat=on:99,off:1" and perhaps "key=EXPRESSION"'],
  ['FleetProfArms chat', invalid('chat', 'FleetProfArms', experiment)],
  ['FleetProfArms key=%{REMOTE_ADDR}', invalid('key=%{REMOTE_ADDR}', 'FleetProfArms', experiment)],
  ['FleetProfArms chat=on:1,off:1 off', invalid('off', 'FleetProfArms', experiment)],
  ['FleetProfArms chat=on:1,off:x', invalid('chat=on:1,off:x', 'FleetProfArms', 'a weight is not a whole number from 1 to 10000; '
    + 'write for example "chat=on:99,off:1"')],
  ['FleetProfArms x=a:1,a:2', invalid('x=a:1,a:2', 'FleetProfArms', 'an arm is there twice; keep one')],
  ['FleetProfArms x=a:1,b:1 key=a key=b', invalid('key=b', 'FleetProfArms', 'write one key, for example "key=%{reqenv:VISITOR}"')],
  ['FleetProfArms x=a:1,b:1 "key=%{nosuch:x}"', 'in "FleetProfArms": Function \'nosuch\' does not exist'],
  ['FleetProfPolicy', 'FleetProfPolicy takes one or more members of Document-Policy'],
  ['FleetProfPolicy JS-Profiling', invalid('JS-Profiling', 'FleetProfPolicy', member)],
  ['FleetProfPolicy js-profiling, a', invalid('js-profiling,', 'FleetProfPolicy', member)],
  ['FleetProfPolicy ""', 'FleetProfPolicy takes one or more members of Document-Policy'],
  ['FleetProfPolicy " "', invalid(' ', 'FleetProfPolicy', 'it is empty; name a member such as "js-profiling"')],
  ['FleetProfPolicy a b a', invalid('a', 'FleetProfPolicy', 'its key is named twice; keep one')],
  ['FleetProfPolicy js-profiling=true', invalid('js-profiling=true', 'FleetProfPolicy',
    '"js-profiling" is a Boolean; write "js-profiling" or "js-profiling=?0"')],
  ['FleetProfPolicy js-profiling-mode', invalid('js-profiling-mode', 'FleetProfPolicy', '"js-profiling-mode" is a token; '
    + 'write "js-profiling-mode=lazy" or "js-profiling-mode=eager"')],
  [`FleetProfPolicy a=${'x'.repeat(1500)} b=${'x'.repeat(1500)}`,
    'in "FleetProfPolicy": the members are longer than 2048 bytes; name fewer'],
  ['FleetProfUnsampled no', invalid('no', 'FleetProfUnsampled', 'it is not one of "negative", "omit"')],
  ['FleetProfConflict app', invalid('app', 'FleetProfConflict', 'it is not one of "upstream", "local"')],
  ['FleetProfNotModified on', invalid('on', 'FleetProfNotModified', 'it is not one of "auto", "send", "omit"')],
  ['FleetProfCacheable 1', invalid('1', 'FleetProfCacheable', 'it is not one of "on", "off"')],
  ['FleetProfServerTiming yes', invalid('yes', 'FleetProfServerTiming', 'it is not one of "on", "off"')],
  ['FleetProfOriginTrial', 'FleetProfOriginTrial takes "off" or one or more tokens'],
  ['FleetProfOriginTrial %{reqenv:TRIAL}', invalid('%{reqenv:TRIAL}', 'FleetProfOriginTrial', 'it is not base64; ')],
  [`FleetProfOriginTrial ${trialToken('a')} off`, invalid('off', 'FleetProfOriginTrial', 'it is longer or shorter than it says '
    + 'itself; copy all of the token')],
  [`FleetProfOriginTrial B${trialToken('a').slice(1)}`, 'in "FleetProfOriginTrial": it does not begin as tokens'],
  [`FleetProfOriginTrial ${trialToken('a')} ${trialToken('a')}`, 'in "FleetProfOriginTrial": the token is named twice; keep one'],
  [`FleetProfOriginTrial ${Array.from({ length: 20 }, (_, i) => trialToken(`${i}${'x'.repeat(200)}`)).join(' ')}`,
    'in "FleetProfOriginTrial": the list is longer than 4096 bytes; name fewer tokens'],
  ['FleetProfAlways', 'FleetProfAlways takes one argument, "on" or "off"'],
  ['FleetProfTypes', 'FleetProfTypes takes "*" or one or more media types'],
  ['FleetProfTypes html', invalid('html', 'FleetProfTypes', 'it is not a media type; write for example "text/html"')],
  ['FleetProfTypes text/html;charset=utf-8', invalid('text/html;charset=utf-8', 'FleetProfTypes',
    'types are compared without their parameters; leave out everything from the ";"')],
  ['FleetProfTypes text/*', invalid('text/*', 'FleetProfTypes', '"*" stands for every type and can\'t be a part of one; '
    + 'name each type, or use "*" alone')],
  ['FleetProfTypes text/html *', invalid('*', 'FleetProfTypes', alone)],
  ['FleetProfSite "our shop"', invalid('our shop', 'FleetProfSite', 'it is not a site\'s name; write 1 to 64 of '
    + 'A-Z a-z 0-9 . _ - as in the collector\'s configuration')],
  [`FleetProfTokenKey ${dir}/none`, '(No such file or directory)'],
  [`FleetProfTokenKey ${keyFile('short.key', 'abcd\n')}`, 'in "FleetProfTokenKey": in line 1: '],
  [`FleetProfTokenKey ${keyFile('bad.key', `${key}\nno hex\n`)}`, 'in "FleetProfTokenKey": in line 2: '],
  [`FleetProfTokenKey ${keyFile('empty.key', '#\n')}`, `invalid parameter "${dir}/empty.key" in "FleetProfTokenKey": `],
  ['FleetProfReports', 'FleetProfReports takes one argument, "off" or the URL that crash reports go to'],
  ['FleetProfReports http://collect.example/r', invalid('http://collect.example/r', 'FleetProfReports',
    'browsers send reports only over https; write "https://"')],
  ['FleetProfReports /r/%{HTTP_HOST}', invalid('/r/%{HTTP_HOST}', 'FleetProfReports',
    'an expression would let the request choose where reports go; write the URL out')],
  ['TimingAllowOrigin', 'TimingAllowOrigin takes "off", "*" or one or more origins'],
  ['TimingAllowOrigin https://a.example/', invalid('https://a.example/', 'TimingAllowOrigin',
    'an origin ends before the path; leave out everything from the first "/" after the host')],
  ['TimingAllowOrigin a.example', invalid('a.example', 'TimingAllowOrigin',
    'it has no scheme; write it as "https://shop.example"')],
  ['TimingAllowOrigin https://A.example', invalid('https://A.example', 'TimingAllowOrigin',
    'browsers write origins in lower case and compare them exactly; write it in lower case')],
  ['TimingAllowOrigin https://a.example:443', invalid('https://a.example:443', 'TimingAllowOrigin',
    'browsers leave the scheme\'s default port out of an origin; also leave it out')],
  ['TimingAllowOrigin https://%{HTTP_HOST}', invalid('https://%{HTTP_HOST}', 'TimingAllowOrigin', noExpression)],
  ['TimingAllowOrigin expr=%{req:Origin}', invalid('expr=%{req:Origin}', 'TimingAllowOrigin', noExpression)],
  ['TimingAllowOrigin * https://a.example', invalid('*', 'TimingAllowOrigin', alone)],
  ['TimingAllowOrigin https://a.example off', invalid('off', 'TimingAllowOrigin', alone)],
  [`TimingAllowOrigin ${longOrigin} ${longOrigin}.b ${longOrigin}.c`,
    'in "TimingAllowOrigin": the list is longer than 2048 bytes; name fewer origins'],
];

describe('mistakes', () => {
  for (const [line, message] of mistakes) {
    test(line.replace(dir, '').slice(0, 80), () => {
      const { ok, says } = check(`<Location />\n${line}\n</Location>`);
      assert.equal(ok, false, says);
      assert.ok(says.includes(message), says);
    });
  }

  for (const [name, lines, place] of /** @type {[string, string, RegExp][]} */ ([
    ['the server config', 'FleetProf on', /in the server config/],
    ['a virtual host', '<VirtualHost *:1>\nFleetProf on\n</VirtualHost>', /in the virtual host at \S+httpd\.conf:\d+/],
    ['an expression', 'FleetProf "expr=true"', /in the server config/],
    ['a virtual host that inherits', 'FleetProf off\n<VirtualHost *:1>\nFleetProf on\n</VirtualHost>',
      /in the virtual host at/],
  ])) {
    test(`switched on without a rate: ${name}`, () => {
      const { ok, says } = check(lines);
      assert.equal(ok, false, says);
      assert.match(says, /"FleetProf" is on but there is no "FleetProfSample" at the same level or above it: write for /);
      assert.match(says, place);
    });
  }

  test('arms without a key', () => {
    const { ok, says } = check(`<VirtualHost *:1>\nFleetProf on\nFleetProfSample 1%\nFleetProfArms chat=on:1,off:1\n</VirtualHost>`);
    assert.equal(ok, false, says);
    assert.match(says, /"FleetProfArms" needs "FleetProfTokenKey" where the module is on, as in the virtual host at \S+httpd\.conf:\d+: the /);
  });

  test('a key without a site', () => {
    const { ok, says } = check(`<VirtualHost *:1>\nFleetProf on\nFleetProfSample 1%\nFleetProfTokenKey ${goodKey}\n</VirtualHost>`);
    assert.equal(ok, false, says);
    assert.match(says, /"FleetProfTokenKey" needs "FleetProfSite" at the same level or above it; name the site as/);
  });
});

const everything = `FleetProf on
FleetProfArms chat=on:99,off:1 hero=a:1,b:1 key=%{REMOTE_ADDR}
FleetProfSample 1/2000 key=%{REMOTE_ADDR}
FleetProfPolicy js-profiling
FleetProfUnsampled omit
FleetProfConflict local
FleetProfTypes text/html application/xhtml+xml
FleetProfAlways on
FleetProfNotModified send
FleetProfCacheable on
FleetProfSite shop
FleetProfReports https://collect.example/v1/reports/pk
TimingAllowOrigin https://a.example null
`;

describe('what is right', () => {
  test('every directive may stand in every context', () => {
    const all = `${everything}FleetProfTokenKey ${goodKey}\n`;
    const { ok, says } = check(`${all}<VirtualHost *:1>\n${all}<Directory />\n${all}<If true>\n${everything}</If>
      </Directory>\n<Location />\n${all}</Location>\n<Files x>\n${all}</Files>\n</VirtualHost>`);
    assert.ok(ok, says);
  });

  test('a rate above the switch will do, and where it is off none is needed', () => {
    const { ok, says } = check('FleetProfSample 1%\n<VirtualHost *:1>\nFleetProf on\n</VirtualHost>');
    assert.ok(ok, says);
    assert.ok(check('FleetProf off').ok);
  });

  test('the annotated example is a valid configuration', () => {
    const example = fs.readFileSync(path.join(repository, 'config/httpd.conf.example'), 'utf8')
      .replace(/^LoadModule .*$/m, '').replace('/etc/fleetprof/token.key', goodKey).replaceAll('${APACHE_LOG_DIR}', dir);
    const { ok, says } = check(example);
    assert.ok(ok, says);
  });

  test('a key is switched off, a relative one lies below ServerRoot, an origin named twice is listed once', () => {
    const { ok, says } = check(`FleetProf on\nFleetProfSample 1%\nFleetProfSite shop\nFleetProfTokenKey good.key
      TimingAllowOrigin https://a.example https://a.example\n<Location />\nFleetProfTokenKey off\n</Location>`);
    assert.ok(ok, says);
  });
});

describe('.htaccess', () => {
  /** @type {Awaited<ReturnType<typeof startHttpd>>} */
  let httpd;
  const root = openDir('htaccess');
  before(async () => {
    httpd = await startHttpd({
      conf: () => `DocumentRoot ${root}\n<Directory ${root}>\nAllowOverride FileInfo\nDirectoryIndex page.html\n</Directory>`,
    });
  });
  after(() => httpd?.server.stop());

  const answer = async (/** @type {string} */ lines) => {
    fs.writeFileSync(`${root}/page.html`, 'page');
    fs.writeFileSync(`${root}/.htaccess`, lines);
    return exchange(httpd.port, requestBytes({ host: 'any' }));
  };

  test('every directive but the key', async () => {
    const response = await answer(everything);
    assert.equal(response.status, 200);
    assert.deepEqual(linesOf(response, 'timing-allow-origin'), ['https://a.example, null']);
  });

  for (const [name, line, message] of [
    ['a mistake is named', 'FleetProfSample 101%', /\.htaccess: invalid parameter "101%" in "FleetProfSample": it is above/],
    ['no key file is read for it', `FleetProfTokenKey ${goodKey}`, /\.htaccess: FleetProfTokenKey not allowed here/],
    ['no file is read by an expression', 'FleetProf "expr=file(\'/etc/hostname\') == \'x\'"',
      /\.htaccess: invalid parameter .* in "FleetProf": file not available in restricted context/],
  ]) {
    test(String(name), async () => {
      assert.equal((await answer(String(line))).status, 500);
      assert.match(httpd.errorLog(), /** @type {RegExp} */ (message));
    });
  }
});

test('other programs see the module and none of its functions', () => {
  const { stdout } = spawnSync('nm', ['-D', '--defined-only', moduleFile], { encoding: 'utf8' });
  const names = stdout.split('\n').map((line) => line.split(' ')[2]).filter((name) => name && !/asan/.test(name));
  assert.deepEqual(names, ['fleetprof_module']);
});
