-- SPDX-License-Identifier: Apache-2.0
-- fleetprof for HAProxy 2.6 or later. The contract: docs/decision.md.
--
--   global:    lua-prepend-path /etc/haproxy/?.lua
--              setenv FLEETPROF_TOKEN_KEY /etc/fleetprof/token.key
--              lua-load-per-thread /etc/haproxy/fleetprof.lua
--   frontend:  http-request lua.fleetprof 0.001 shop      the rate, from 0 to 1; the token's site, or - for no token
--              http-response lua.fleetprof

local fields = require('structured_fields')
local key_file = os.getenv('FLEETPROF_TOKEN_KEY')
local key
if key_file then
    for line in io.lines(key_file) do key = key or line:match('^%s*(%x+)%s*$') end
    assert(key and #key >= 64 and #key % 2 == 0, key_file .. ': the first key is not 32 or more bytes as hexadecimal digits')
    key = key:gsub('%x%x', function(pair) return string.char(tonumber(pair, 16)) end)
end
local random = assert(io.open('/dev/urandom', 'rb')) -- opened before the chroot
random:setvbuf('no')

local months = { Jan = 1, Feb = 2, Mar = 3, Apr = 4, May = 5, Jun = 6, Jul = 7, Aug = 8, Sep = 9, Oct = 10, Nov = 11, Dec = 12 }
local function is_ahead(date)
    local day, month, year, time = (date or ''):match('^%a+, (%d+) (%a+) (%d+) (%d+:%d+:%d+) GMT')
    return months[month] and string.format('%04d%02d%02d%s', year, months[month], day, time) > os.date('!%Y%m%d%H:%M:%S')
end

local function is_shared(control, expires)
    local said = {}
    for _, part in ipairs(fields.split(control)) do
        local name, argument = part:match('^%s*([^%s=]+)%s*=?%s*(.-)%s*$')
        if name then said[name:lower() .. (name:lower() == 'private' and argument ~= '' and '=' or '')] = argument end
    end
    if said['no-store'] then return false end
    local age = said['max-age']
    local is_fresh = age and age:find('^"?0*[1-9]') or (not age and is_ahead(expires))
    return said.public or said['s-maxage'] or (is_fresh and not said.private)
end
local function is_cacheable(headers)
    local function all(name) return headers[name] and table.concat(headers[name], ',', 0) or '' end
    if is_shared(all('cache-control'), headers.expires and headers.expires[0]) then return true end
    for name in pairs(headers) do
        if (name == 'surrogate-control' or name:find('.%-cache%-control$')) and is_shared(all(name)) then return true end
    end
end

local function is_page(content_type)
    local essence = content_type:lower():match('^%s*([^;%s]*)%s*%f[;\0]')
    return essence == 'text/html' or essence == 'application/xhtml+xml'
end
local document_destinations = { document = true, iframe = true, frame = true, embed = true, object = true }
local function is_document(status, headers, ask)
    local content_type = headers['content-type'] and headers['content-type'][0] or ''
    if is_page(content_type) or ask.destination == 'worker' or ask.destination == 'sharedworker' then return true end
    if status ~= 304 or content_type ~= '' then return false end
    if ask.mode == 'navigate' then return true end
    if ask.destination ~= '' and ask.destination ~= 'empty' then return document_destinations[ask.destination] end
    for _, range in ipairs(fields.split(ask.accept)) do if is_page(range) then return true end end
end

-- Returns the word of a sampled page: a token, or 1.TIME.NONCE without a site or a key.
local function sign(txn, ask)
    local made = os.time() .. '.' .. txn.c:ub64enc(random:read(12))
    if ask.site == '-' or not key then return '1.' .. made end
    local function hmac(text) return txn.c:hmac(text, 'sha256', txn.c:base64(key)) end
    local id = txn.c:hex(hmac('fleetprof key id')):sub(1, 8):lower()
    local signed = string.format('v1.%s.%s.%d.%s', id, ask.site, math.floor(ask.rate * 1000000 + 0.5), made)
    return signed .. '.' .. txn.c:ub64enc(hmac(signed))
end

core.register_action('fleetprof', { 'http-req' }, function(txn, rate, site)
    local function field(name) return txn.f:req_fhdr(name) or '' end
    txn:set_priv({ rate = tonumber(rate), site = site, destination = field('sec-fetch-dest'), mode = field('sec-fetch-mode'), accept = field('accept') })
end, 2)

core.register_action('fleetprof', { 'http-res' }, function(txn)
    local ask, headers, status = txn:get_priv(), txn.http:res_get_headers(), txn.f:status()
    if not ask or not ((status >= 200 and status < 300) or status == 304) or not is_document(status, headers, ask) then return end
    local lines = headers['document-policy']
    if status == 304 and not lines then return end
    local is_profiled = txn.f:rand(1000000) < ask.rate * 1000000 and not is_cacheable(headers)
    local said = lines and table.concat(lines, ', ', 0) or ''
    local policy = (said == '' and '' or said .. ', ') .. (is_profiled and 'js-profiling, js-profiling-mode=lazy' or 'js-profiling=?0')
    local own = #policy <= 4096 and fields.members(said)
    if own and not own['js-profiling'] and not own['js-profiling-mode'] then
        txn.http:res_set_header('Document-Policy', policy)
    elseif own and ((own['js-profiling-mode'] or ''):find('^[%a*]') or own['js-profiling'] == '?1') then
        return
    else is_profiled = false end
    txn.http:res_del_header('Server-Timing')
    txn.http:res_add_header('Server-Timing', 'fleetprof;desc="' .. (is_profiled and sign(txn, ask) or '0') .. '"')
    local timings = headers['server-timing'] or {}
    for i = 0, timings[0] and #timings or -1 do
        local all, others = fields.split(timings[i]), {}
        for _, metric in ipairs(all) do others[#others + 1] = not metric:find("^%s*fleetprof%f[^%w!#$%%&'*+.^_`|~-]") and metric or nil end
        local rest = #others == #all and timings[i] or table.concat(others, ','):match('^%s*(.-)%s*$')
        if rest ~= '' or #others == #all then txn.http:res_add_header('Server-Timing', rest) end
    end
    for _, name in ipairs(is_profiled and status ~= 304 and { 'ETag', 'Last-Modified' } or {}) do txn.http:res_del_header(name) end
end, 0)
