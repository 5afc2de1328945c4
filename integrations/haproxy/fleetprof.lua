-- SPDX-License-Identifier: Apache-2.0
-- fleetprof for HAProxy 2.6 or later. The contract: docs/decision.md. In /etc/haproxy: this file, and those of lua/.
--
--   global:    lua-prepend-path /etc/haproxy/?.lua
--              setenv FLEETPROF_TOKEN_KEY /etc/fleetprof/token.key
--              lua-load-per-thread /etc/haproxy/fleetprof.lua
--   frontend:  http-request lua.fleetprof 0.001 shop      the rate, from 0 to 1; the token's site, or - for no token
--              http-response lua.fleetprof

local decision = require('fleetprof_decision')
local key_file = os.getenv('FLEETPROF_TOKEN_KEY')
local key = key_file and decision.read_key(key_file)
local random = assert(io.open('/dev/urandom', 'rb')) -- opened before the chroot
random:setvbuf('no')

core.register_action('fleetprof', { 'http-req' }, function(txn, rate, site)
    local function field(name) return txn.f:req_fhdr(name) or '' end
    txn:set_priv({ rate = tonumber(rate), site = site, destination = field('sec-fetch-dest'), mode = field('sec-fetch-mode'), accept = field('accept') })
end, 2)

core.register_action('fleetprof', { 'http-res' }, function(txn)
    local ask, headers, status = txn:get_priv(), txn.http:res_get_headers(), txn.f:status()
    if not ask then return end
    for _, lines in pairs(headers) do table.insert(lines, 1, lines[0]) end -- HAProxy counts them from 0
    ask.is_drawn = txn.f:rand(1000000) < ask.rate * 1000000
    local is_profiled, policy = decision.decide(status, headers, ask)
    if is_profiled == nil then return end
    if policy then txn.http:res_set_header('Document-Policy', policy) end
    local hmac = ask.site ~= '-' and key and function(text) return txn.c:hmac(text, 'sha256', txn.c:base64(key)) end
    local said = is_profiled and decision.word(ask.rate, ask.site, random:read(12), hmac, function(bytes) return txn.c:ub64enc(bytes) end) or '0'
    txn.http:res_del_header('Server-Timing')
    for _, line in ipairs(decision.timings(headers['server-timing'], said)) do txn.http:res_add_header('Server-Timing', line) end
    for _, name in ipairs(is_profiled and status ~= 304 and { 'ETag', 'Last-Modified' } or {}) do txn.http:res_del_header(name) end
end, 0)
