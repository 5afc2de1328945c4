-- SPDX-License-Identifier: Apache-2.0
-- fleetprof for lighttpd 1.4.64 or later. The contract: docs/decision.md. In /etc/lighttpd: this file, and those of lua/.
--
--   server.modules += ( "mod_setenv", "mod_magnet" )
--   setenv.set-environment = (
--       "FLEETPROF_RATE"      => "0.001",                          the share of page loads, from 0 to 1
--       "FLEETPROF_SITE"      => "shop",                           the site's name in the collector's configuration
--       "FLEETPROF_TOKEN_KEY" => "/etc/fleetprof/token.key" )      lighttpd's user reads it; without, pages carry no token
--   magnet.attract-response-start-to = ( "/etc/lighttpd/fleetprof.lua" )

local request = lighty.r
local rate = request.req_env['FLEETPROF_RATE']
if not rate then return 0 end

-- lighttpd runs this file for each response; what `require` loads stays.
local folder = debug.getinfo(1, 'S').source:match('^@?(.*/)') or ''
if not package.path:find(folder .. '?.lua;', 1, true) then package.path = folder .. '?.lua;' .. package.path end
local decision = require('fleetprof_decision')
decision.keys = decision.keys or {}
decision.random = decision.random or assert(io.open('/dev/urandom', 'rb'))

-- Lines of one field come as one text.
local headers = {}
for name, text in pairs(request.resp_header) do
    local lines = {}
    for line in (text .. '\r\n' .. name .. ': '):gmatch('(.-)\r\n[^:\r\n]+: ?') do lines[#lines + 1] = line end
    headers[name:lower()] = lines
end

local site, file = request.req_env['FLEETPROF_SITE'] or '', request.req_env['FLEETPROF_TOKEN_KEY']
local share, wrong = tonumber(rate), nil
if not share or share ~= 0 and not (share >= 0.000001 and share <= 1) then
    share, wrong = 0, 'rate ' .. rate .. ' is not 0, and not from 0.000001 to 1'
elseif file and not site:find('^[%w_.-]+$') then
    share, wrong = 0, 'site "' .. site .. '" is not 1 to 64 of A-Z a-z 0-9 . _ -'
elseif file and not decision.keys[file] then
    local is_read, key = pcall(decision.read_key, file)
    if is_read then decision.keys[file] = key else share, wrong = 0, key end
end
if wrong then print('fleetprof samples no page: ' .. wrong) end

local function field(name) return request.req_header[name] or '' end
local status = request.req_item.http_status
local is_profiled, policy = decision.decide(status, headers, { destination = field('Sec-Fetch-Dest'), mode = field('Sec-Fetch-Mode'),
    accept = field('Accept'), is_drawn = string.unpack('<I6', decision.random:read(6)) / 2 ^ 48 < share })
if is_profiled == nil then return 0 end
if policy then request.resp_header['Document-Policy'] = policy end
local function hmac(text) return lighty.c.hexdec(lighty.c.hmac('sha256', decision.keys[file], text)) end
local said = is_profiled and decision.word(share, site, decision.random:read(12), file and hmac, lighty.c.b64urlenc) or '0'
request.resp_header['Server-Timing'] = table.concat(decision.timings(headers['server-timing'], said), ', ')
if is_profiled and status ~= 304 then
    request.resp_header['ETag'] = nil
    request.resp_header['Last-Modified'] = nil
end
return 0
