# frozen_string_literal: true

# SPDX-License-Identifier: Apache-2.0
# The application of the conformance test (conformance/application.mjs) for Rack, with the middleware where a part is on.
require 'json'
require_relative '../../../integrations/ruby/fleetprof'

ROOT = File.expand_path('../../..', __dir__)
DATA = JSON.parse(File.read("#{ROOT}/conformance/cases.json"))
PAGE = { 'fields' => [%w[Content-Type text/html]] }.freeze
ANSWERS = DATA['rates'].to_h { |one| [one['name'], PAGE] }.merge(DATA['cases'].to_h { |one| [one['name'], one['answer']] })

application = lambda do |env|
  answer = ANSWERS[env['PATH_INFO'].split('/').last] || { 'status' => 404 }
  status = answer['status'] || 200
  headers = {}
  answer.fetch('fields', []).each do |name, value|
    name = name.downcase if defined?(Rack::Headers)
    name = headers.keys.find { |one| one.casecmp?(name) } || name
    (headers[name] ||= []) << value.encode('ISO-8859-1').b
  end
  headers.transform_values! { |values| values.join("\n") } unless defined?(Rack::Headers)
  [status, headers, status == 304 ? [] : ['<!doctype html><title>a page</title>']]
end

DATA['servers'].each do |part, setting|
  map "/#{part}" do
    use Fleetprof, rate: setting['rate'].to_f / 100, site: 'shop', key_file: setting['key'] ? "#{ROOT}/conformance/token.key" : nil if setting
    run application
  end
end
