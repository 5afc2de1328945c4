# frozen_string_literal: true

# SPDX-License-Identifier: Apache-2.0
# Reads fields for fleetprof.rb.
require 'strscan'
require 'time'

module FleetprofFields
  # RFC 9651, section 4.2: a dictionary's members.
  ITEM = %r{(?:-?\d{1,12}\.\d{1,3}|-?\d{1,15}|"(?:[ !\#-\[\]-~]|\\["\\])*"|[A-Za-z*][\w!\#$%&'*+.^|~:/`-]*|:[A-Za-z0-9+/=]*:|\?[01]|@-?\d{1,15}|%"(?:[ !\#$&-~]|%[0-9a-f]{2})*")}n
  KEY = /[a-z*][a-z0-9_.*-]*/n
  PARAMETERS = /(?:; *#{KEY}(?:=#{ITEM})?)*/n
  MEMBER = /(#{KEY})(?:=(#{ITEM}|\( *(?:#{ITEM}#{PARAMETERS}(?: +|(?=\))))*\)))?#{PARAMETERS} *(?=[ \t]*(?:,|\z))/n
  DESTINATIONS = %w[document iframe frame embed object].freeze

  module_function

  # Returns the last value of each key; nil if browsers would drop the text.
  def members(text)
    scanner = StringScanner.new(text)
    found = {}
    scanner.skip(/ */)
    until scanner.eos?
      return nil unless scanner.skip(MEMBER)

      found[scanner[1]] = scanner[2] || '?1'
      break if scanner.skip(/[ \t]*\z/)
      return nil if !scanner.skip(/[ \t]*,[ \t]*/) || scanner.eos?
    end
    found
  end

  # Splits at commas outside of quotes.
  def split(text) = text.b.scan(/(?:"(?:\\.|[^"\\])*"?|[^,"])+|(?<=\A|,)(?=,|\z)/n)

  # May shared caches store what has this Cache-Control, and Expires?
  def shared?(control, expires = nil)
    has = ->(name, argument = '') { split(control).any? { |one| one.match?(/\A\s*#{name}\s*(?:=|\z)#{argument}/i) } }
    return false if has['no-store']

    fresh = has['max-age', '\s*"?0*[1-9]'] || (!has['max-age'] && ahead?(expires))
    has['public'] || has['s-maxage'] || (fresh && !has['private', '\z'])
  end

  def ahead?(date)
    Time.httpdate(date.to_s) > Time.now
  rescue ArgumentError
    false
  end

  def page?(type) = type.match?(%r{\A\s*(?:text/html|application/xhtml\+xml)\s*(?:;|\z)}i)

  # Is the response a document or a worker's script? Asks for fields of the request.
  def document?(status, type, ask)
    destination = ask['SEC_FETCH_DEST']
    return true if page?(type) || %w[worker sharedworker].include?(destination)
    return false if status != 304 || type != ''

    ask['SEC_FETCH_MODE'] == 'navigate' || DESTINATIONS.include?(destination) || (['', 'empty'].include?(destination) && split(ask['ACCEPT']).any? { |one| page?(one) })
  end
end
