<?php
// SPDX-License-Identifier: Apache-2.0
/**
 * Plugin Name: fleetprof
 * Description: Picks the page loads that browsers may profile.
 *
 * For WordPress (in wp-content/mu-plugins) and any other PHP 8. The contract: docs/decision.md. In wp-config.php, or before this file is required:
 *   define('FLEETPROF_RATE', 0.001);                          the share of page loads, from 0 to 1
 *   define('FLEETPROF_SITE', 'shop');                         the site's name in the collector's configuration
 *   define('FLEETPROF_TOKEN_KEY', '/etc/fleetprof/token.key'); its first key signs tokens; without, pages carry none
 */

namespace Fleetprof;
// RFC 9651, section 4.2: a dictionary's members.
const ITEM = '(?:-?\d{1,12}\.\d{1,3}|-?\d{1,15}|"(?:[ !#-\[\]-~]|\\\\["\\\\])*"|[A-Za-z*][\w!#$%&\'*+.^|~:\/`-]*|:[A-Za-z0-9+\/=]*:|\?[01]|@-?\d{1,15}|%"(?:[ !#$&-~]|%[0-9a-f]{2})*")';
const KEY = '[a-z*][a-z0-9_.*-]*';
const PARAMETERS = '(?:; *' . KEY . '(?:=' . ITEM . ')?)*';
const MEMBER = '(' . KEY . ')(?:=(' . ITEM . '|\( *(?:' . ITEM . PARAMETERS . '(?: +|(?=\))))*\)))?' . PARAMETERS;

/** Returns the last value of each key; null if browsers would drop the text. */
function members(string $text): ?array {
    preg_match_all('/\G(?:^ *|(?<!^)[ \t]*,[ \t]*)' . MEMBER . ' *(?=[ \t]*(?:,|$))/D', $text, $found);
    $is_whole = trim(substr($text, strlen(implode('', $found[0]))), ' ') === '';
    return $is_whole ? array_combine($found[1], array_map(fn ($value) => $value === '' ? '?1' : $value, $found[2])) : null;
}

/** Splits at commas outside of quotes. */
function split(string $text): array {
    preg_match_all('/(?:"(?:\\\\.|[^"\\\\])*"?|[^,"])+|(?<=^|,)(?=,|$)/', $text, $found);
    return $found[0];
}

/** May shared caches store what has this Cache-Control, and Expires? */
function is_shared(string $control, string $expires = ''): bool {
    $has = fn ($name, $argument = '') => (bool) preg_grep("/^\s*$name\s*(?:=|$)$argument/i", split($control));
    $is_fresh = $has('max-age', '\s*"?0*[1-9]') || (!$has('max-age') && preg_match('/^\s*[a-z]{3,9},? .*:/i', $expires) && strtotime($expires) > time());
    return !$has('no-store') && ($has('public') || $has('s-maxage') || ($is_fresh && !$has('private', '$')));
}

function is_document(int $status, string $type): bool {
    $is_page = fn ($text) => (bool) preg_match('#^\s*(text/html|application/xhtml\+xml)\s*(;|$)#i', $text);
    $ask = fn ($name) => $_SERVER["HTTP_$name"] ?? '';
    $destination = $ask('SEC_FETCH_DEST') ?: 'empty';
    $is_known = $is_page($type) || in_array($destination, ['worker', 'sharedworker'], true);
    if ($is_known || $status !== 304 || $type !== '') {
        return $is_known;
    }
    return $ask('SEC_FETCH_MODE') === 'navigate' || in_array($destination, ['document', 'iframe', 'frame', 'embed', 'object'], true)
        || ($destination === 'empty' && array_filter(split($ask('ACCEPT')), $is_page));
}

/** Returns the word of a sampled page: a token, or 1.TIME.NONCE without a key. */
function sign(): string {
    $base64url = fn ($bytes) => rtrim(strtr(base64_encode($bytes), '+/', '-_'), '=');
    $made = time() . '.' . $base64url(random_bytes(12));
    if (!defined('FLEETPROF_TOKEN_KEY')) {
        return "1.$made";
    }
    if (!preg_match('/\A(?:[ \t\r]*(?:#.*)?\n)*[ \t]*((?:[0-9a-f]{2}){32,128})[ \t\r]*$/mi', (string) file_get_contents(FLEETPROF_TOKEN_KEY), $key)) {
        trigger_error('fleetprof: the first key is not 32 to 128 bytes as hexadecimal digits in ' . FLEETPROF_TOKEN_KEY, E_USER_WARNING);
        return '0';
    }
    $hmac = fn ($text) => hash_hmac('sha256', $text, hex2bin($key[1]), true);
    $signed = 'v1.' . substr(bin2hex($hmac('fleetprof key id')), 0, 8) . '.' . FLEETPROF_SITE . '.' . round(FLEETPROF_RATE * 1e6) . ".$made";
    return $signed . '.' . $base64url($hmac($signed));
}

/** Changes the fields of the response, right before PHP sends them. */
function announce(): void {
    $fields = array_map(fn ($line) => array_map('trim', explode(':', $line, 2)), headers_list());
    $lines = fn ($name) => array_column(array_filter($fields, fn ($field) => preg_match("/^(?:$name)$/i", $field[0])), 1);
    $status = http_response_code() ?: 200;
    $said = $lines('Document-Policy');
    if (!(($status >= 200 && $status < 300) || $status === 304) || !is_document($status, $lines('Content-Type')[0] ?? '') || ($status === 304 && !$said)) {
        return;
    }
    $is_cacheable = is_shared(implode(',', $lines('Cache-Control')), $lines('Expires')[0] ?? '') || array_filter($lines('Surrogate-Control|.+-Cache-Control'), __NAMESPACE__ . '\is_shared');
    $word = random_int(0, 999999) < FLEETPROF_RATE * 1e6 && !$is_cacheable ? sign() : '0';
    $text = implode(', ', $said);
    $policy = ($text === '' ? '' : "$text, ") . ($word === '0' ? 'js-profiling=?0' : 'js-profiling, js-profiling-mode=lazy');
    $own = strlen($policy) > 4096 ? null : members($text);
    if (preg_match('/^[A-Za-z*]/', $own['js-profiling-mode'] ?? '') || ($own['js-profiling'] ?? '') === '?1') {
        return;
    }
    if ($own !== null && !isset($own['js-profiling']) && !isset($own['js-profiling-mode'])) {
        header("Document-Policy: $policy");
    } else {
        $word = '0';
    }
    header("Server-Timing: fleetprof;desc=\"$word\"");
    $others = fn ($line) => preg_grep('/^\s*fleetprof(?![\w!#$%&\'*+.^|~`-])/', split($line), PREG_GREP_INVERT);
    $kept = fn ($line) => count($others($line)) === count(split($line)) ? $line : trim(implode(',', $others($line)));
    foreach (array_filter(array_map($kept, $lines('Server-Timing')), 'strlen') as $line) {
        header("Server-Timing: $line", false);
    }
    foreach ($word !== '0' && $status !== 304 ? ['ETag', 'Last-Modified'] : [] as $name) {
        header_remove($name);
    }
}
header_register_callback(__NAMESPACE__ . '\announce');
