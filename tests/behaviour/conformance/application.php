<?php
// SPDX-License-Identifier: Apache-2.0
/** The application of the conformance test (conformance/application.mjs) in PHP, with the plugin where the part is on. */
$root = dirname(__DIR__, 3);
$data = json_decode(file_get_contents("$root/conformance/cases.json"), true);
[, $part, $name] = explode('/', $_SERVER['REQUEST_URI'] . '//');
$setting = $data['servers'][$part] ?? null;
if ($setting) {
    define('FLEETPROF_RATE', (float) $setting['rate'] / 100);
    define('FLEETPROF_SITE', 'shop');
    if ($setting['key']) {
        define('FLEETPROF_TOKEN_KEY', "$root/conformance/token.key");
    }
    require "$root/integrations/php/fleetprof.php";
}
ini_set('default_mimetype', '');
$answers = array_column($data['cases'], 'answer', 'name') + array_fill_keys(array_column($data['rates'], 'name'), ['fields' => [['Content-Type', 'text/html']]]);
http_response_code($answers[$name]['status'] ?? (isset($answers[$name]) ? 200 : 404));
foreach ($answers[$name]['fields'] ?? [] as [$field, $value]) {
    header("$field: " . iconv('UTF-8', 'ISO-8859-1', $value), strcasecmp($field, 'Content-Type') === 0);
}
if (http_response_code() !== 304) {
    echo '<!doctype html><title>a page</title>';
}
