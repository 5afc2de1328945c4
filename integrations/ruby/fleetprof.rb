# frozen_string_literal: true

# SPDX-License-Identifier: Apache-2.0
# fleetprof for Rack 2 and 3, so for Rails, Sinatra and Hanami. The contract: docs/decision.md.
#
#   require_relative 'lib/fleetprof'
#   use Fleetprof, rate: 0.001, site: 'shop', key_file: '/etc/fleetprof/token.key'
#
# rate: the share of page loads that are sampled, from 0 to 1. The first key of key_file signs tokens; without one, pages carry none.
require 'openssl'
require 'rack'
require 'securerandom'
require_relative 'fleetprof_fields'

class Fleetprof
  include FleetprofFields
  OURS = /\A\s*fleetprof(?![\w!\#$%&'*+.^|~`-])/n

  def initialize(app, rate:, site: nil, key_file: nil)
    raise ArgumentError, "fleetprof: rate #{rate} is not 0, and not from 0.000001 to 1" unless rate.zero? || rate.between?(0.000001, 1)

    @app = app
    @rate = rate
    @site = site
    @key = read_key(key_file) if key_file
  end

  def call(env)
    status, headers, body = @app.call(env)
    headers = headers.to_h.dup
    announce(status.to_i, headers, ->(name) { env["HTTP_#{name}"] || '' })
    [status, headers, body]
  end

  private

  def read_key(file)
    key = File.readlines(file, chomp: true).map(&:strip).find { |line| line != '' && !line.start_with?('#') }
    raise ArgumentError, "fleetprof: #{file}: the first key is not 32 to 128 bytes as hexadecimal digits" unless key&.match?(/\A(?:\h\h){32,128}\z/)
    raise ArgumentError, "fleetprof: site #{@site.inspect} is not 1 to 64 of A-Z a-z 0-9 . _ -" unless @site.to_s.match?(/\A[\w.-]{1,64}\z/)

    [key].pack('H*')
  end

  # Returns the lines of a field. Rack 2 joins them by line feeds; Rack 3 has an array.
  def lines(headers, pattern)
    values = headers.select { |name, _| name.match?(/\A(?:#{pattern})\z/i) }.values.flatten
    values.flat_map { |one| one.empty? ? [one] : one.b.split("\n", -1) }
  end

  def put(headers, name, values)
    headers.delete_if { |one, _| one.casecmp?(name) }
    return if values.empty?

    if defined?(Rack::Headers) then headers[name.downcase] = values
    else headers[name] = values.join("\n") end
  end

  # Returns the word of a sampled page: a token, or 1.TIME.NONCE without a key.
  def sign
    made = "#{Time.now.to_i}.#{SecureRandom.urlsafe_base64(12)}"
    return "1.#{made}" unless @key

    mac = ->(text) { OpenSSL::HMAC.digest('SHA256', @key, text) }
    signed = "v1.#{mac['fleetprof key id'].unpack1('H8')}.#{@site}.#{(@rate * 1_000_000).round}.#{made}"
    "#{signed}.#{[mac[signed]].pack('m0').tr('+/', '-_').delete('=')}"
  end

  # Changes the fields of the response.
  def announce(status, headers, ask)
    said = lines(headers, 'document-policy')
    return unless status.between?(200, 299) || (status == 304 && said != [])
    return unless document?(status, lines(headers, 'content-type').first.to_s, ask)

    cacheable = shared?(lines(headers, 'cache-control').join(','), lines(headers, 'expires').first) ||
                lines(headers, 'surrogate-control|.+-cache-control').any? { |one| shared?(one) }
    sampled = SecureRandom.random_number < @rate && !cacheable
    text = said.join(', ')
    policy = [*(text unless text == ''), sampled ? 'js-profiling, js-profiling-mode=lazy' : 'js-profiling=?0'].join(', ')
    own = members(text) if policy.bytesize <= 4096
    return if own && (own['js-profiling'] == '?1' || own['js-profiling-mode']&.match?(/\A[A-Za-z*]/))

    if own && !own['js-profiling'] && !own['js-profiling-mode'] then put(headers, 'Document-Policy', [policy])
    else sampled = false end
    timings = lines(headers, 'server-timing').map { |line| split(line).grep(OURS).empty? ? line : split(line).grep_v(OURS).join(',').strip }
    put(headers, 'Server-Timing', ["fleetprof;desc=\"#{sampled ? sign : 0}\"", *timings.reject(&:empty?)])
    %w[ETag Last-Modified].each { |name| put(headers, name, []) } if sampled && status != 304
  end
end
