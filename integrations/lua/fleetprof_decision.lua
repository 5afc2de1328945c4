-- SPDX-License-Identifier: Apache-2.0
-- The decision for servers that run Lua 5.3 or later. The contract: docs/decision.md.

local fields = require('structured_fields')

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
    if is_shared(table.concat(headers['cache-control'] or {}, ','), headers.expires and headers.expires[1]) then return true end
    for name, lines in pairs(headers) do
        if (name == 'surrogate-control' or name:find('.%-cache%-control$')) and is_shared(table.concat(lines, ',')) then return true end
    end
end

local function is_page(content_type)
    local essence = content_type:lower():match('^%s*([^;%s]*)%s*%f[;\0]')
    return essence == 'text/html' or essence == 'application/xhtml+xml'
end
local document_destinations = { document = true, iframe = true, frame = true, embed = true, object = true }
local function is_document(status, headers, ask)
    local content_type = headers['content-type'] and headers['content-type'][1] or ''
    if is_page(content_type) or ask.destination == 'worker' or ask.destination == 'sharedworker' then return true end
    if status ~= 304 or content_type ~= '' then return false end
    if ask.mode == 'navigate' then return true end
    if ask.destination ~= '' and ask.destination ~= 'empty' then return document_destinations[ask.destination] end
    for _, range in ipairs(fields.split(ask.accept)) do if is_page(range) then return true end end
end

-- Decides. headers has the lines of each field, by its name in lower case; ask has destination, mode, accept and is_drawn, whether
-- chance picked the load. Returns nil if the response stays as it is, else whether it is profiled, and the new Document-Policy,
-- if it is not that of the application.
local function decide(status, headers, ask)
    if not ((status >= 200 and status < 300) or status == 304) or not is_document(status, headers, ask) then return nil end
    local lines = headers['document-policy']
    if status == 304 and not lines then return nil end
    local is_profiled = ask.is_drawn and not is_cacheable(headers)
    local said = table.concat(lines or {}, ', ')
    local policy = (said == '' and '' or said .. ', ') .. (is_profiled and 'js-profiling, js-profiling-mode=lazy' or 'js-profiling=?0')
    local own = #policy <= 4096 and fields.members(said)
    if own and not own['js-profiling'] and not own['js-profiling-mode'] then return is_profiled or false, policy end
    if own and ((own['js-profiling-mode'] or ''):find('^[%a*]') or own['js-profiling'] == '?1') then return nil end
    return false
end

-- Returns the lines of Server-Timing: our metric before those of the application.
local function timings(lines, word)
    local result = { 'fleetprof;desc="' .. word .. '"' }
    for _, line in ipairs(lines or {}) do
        local all, others = fields.split(line), {}
        for _, metric in ipairs(all) do others[#others + 1] = not metric:find("^%s*fleetprof%f[^%w!#$%%&'*+.^_`|~-]") and metric or nil end
        local rest = #others == #all and line or table.concat(others, ','):match('^%s*(.-)%s*$')
        if rest ~= '' or #others == #all then result[#result + 1] = rest end
    end
    return result
end

-- Returns the first key of a file, as bytes; an error says what is wrong with it.
local function read_key(file)
    local opened, key = assert(io.open(file)), nil
    for line in opened:lines() do key = key or line:match('^%s*([^%s#].-)%s*$') end
    opened:close()
    assert(key and key:find('^%x+$') and #key >= 64 and #key <= 256 and #key % 2 == 0, file .. ': the first key is not 32 to 128 bytes as hexadecimal digits')
    return (key:gsub('%x%x', function(pair) return string.char(tonumber(pair, 16)) end))
end

-- Returns the word of a sampled page: a token, or 1.TIME.NONCE without a key. hmac returns bytes, as base64url takes them.
local function word(rate, site, nonce, hmac, base64url)
    local made = os.time() .. '.' .. base64url(nonce)
    if not hmac then return '1.' .. made end
    local id = hmac('fleetprof key id'):sub(1, 4):gsub('.', function(byte) return string.format('%02x', byte:byte()) end)
    local signed = string.format('v1.%s.%s.%d.%s', id, site, math.floor(rate * 1000000 + 0.5), made)
    return signed .. '.' .. base64url(hmac(signed))
end

return { decide = decide, timings = timings, read_key = read_key, word = word }
