-- SPDX-License-Identifier: Apache-2.0
-- Reads structured fields (RFC 9651) for fleetprof_decision.lua.

-- Section 4.2: each returns the place behind what it read, or nil.
local function quoted(text, at, escape, plain)
    while text:sub(at, at) ~= '"' do
        at = text:match('^' .. escape .. '()', at) or text:match('^' .. plain .. '()', at)
        if not at then return nil end
    end
    return at + 1
end
local function item(text, at)
    local whole, dot, part, number_end = text:match('^%-?(%d+)(%.?)(%d*)()', at)
    if whole then
        local is_decimal = dot == '.' and #whole <= 12 and #part >= 1 and #part <= 3
        return (is_decimal or (dot == '' and #whole <= 15)) and number_end or nil
    end
    if text:find('^"', at) then return quoted(text, at + 1, '\\["\\]', '[^"\\%c\127-\255]') end
    if text:find('^%%"', at) then return quoted(text, at + 2, '%%[%da-f][%da-f]', '[^"%%%c\127-\255]') end
    local date, date_end = text:match('^@%-?(%d+)()', at)
    if date then return #date <= 15 and date_end or nil end
    return text:match('^%?[01]()', at) or text:match('^:[%w+/=]*:()', at) or text:match("^[%a*][%w_!#$%%&'*+.^`|~:/-]*()", at)
end
local function parameters(text, at)
    while at and text:find('^;', at) do
        at = text:match('^; *[a-z*][a-z0-9_.*-]*()', at)
        if at and text:find('^=', at) then at = item(text, at + 1) end
    end
    return at
end
local function value(text, at)
    local next_item = text:match('^%( *()', at)
    if not next_item then return item(text, at) end
    while next_item and not text:find('^%)', next_item) do
        local item_end = item(text, next_item)
        item_end = item_end and parameters(text, item_end)
        next_item = item_end and (text:match('^ +()', item_end) or text:match('^()%)', item_end))
    end
    return next_item and next_item + 1
end

-- Returns the last value of each key, or nil if browsers would drop the text.
local function members(text)
    local found, at = {}, text:match('^ *()')
    if at > #text then return found end
    while true do
        local name, name_end = text:match('^([a-z*][a-z0-9_.*-]*)()', at)
        if not name then return nil end
        local value_end = text:find('^=', name_end) and value(text, name_end + 1) or (not text:find('^=', name_end) and name_end)
        at = value_end and parameters(text, value_end)
        if not at then return nil end
        found[name] = value_end > name_end and text:sub(name_end + 1, value_end - 1) or '?1'
        if text:find('^ *$', at) then return found end
        at = text:match('^[ \t]*,[ \t]*()', at)
        if not at then return nil end
    end
end

-- Splits at commas outside of quotes.
local function split(text)
    local parts, at, is_quoted, is_escaped = {}, 1, false, false
    for place, byte in text:gmatch('()(.)') do
        if byte == '"' and not is_escaped then is_quoted = not is_quoted end
        if byte == ',' and not is_quoted then parts[#parts + 1], at = text:sub(at, place - 1), place + 1 end
        is_escaped = is_quoted and byte == '\\' and not is_escaped
    end
    parts[#parts + 1] = text:sub(at)
    return parts
end

return { members = members, split = split }
