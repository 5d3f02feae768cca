import { GatehouseError } from '@gatehouse/contract'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseEndpoint, parseHost, parseUrl, portOf } from './web-address.ts'

test.each([
  ['https://example.org', 'https://example.org/'],
  ['HTTPS://EXAMPLE.org:443/A?b#c', 'https://example.org/A?b'],
  ['http://example.org.:80/', 'http://example.org/'],
  ['https://bücher.example/ü', 'https://xn--bcher-kva.example/%C3%BC'],
  ['https://xn--bcher-kva.example/', 'https://xn--bcher-kva.example/'],
  ['https://ｅｘａｍｐｌｅ。org/', 'https://example.org/'],
  ['https:example.org/a/../b/%2e%2e/c', 'https://example.org/c'],
  ['http://0x7f.1:8080/', 'http://127.0.0.1:8080/'],
  ['http://[::FFFF:127.0.0.1]/', 'http://[::ffff:7f00:1]/'],
  ['https://example.org/@evil.example', 'https://example.org/@evil.example'],
])('%s is %s', (text, url) => {
  expect(parseUrl(text).href).toBe(url)
})

test.each([
  ['file:///canary', 'it must begin with https:// or http://, not file:'],
  ['data:text/plain,x', 'it must begin with'],
  ['gopher://example.org/', 'it must begin with'],
  ['ftp://example.org/', 'it must begin with'],
  ['javascript:alert(1)', 'it must begin with'],
  ['example.org/path', 'it is not a URL'],
  ['//example.org/', 'it is not a URL'],
  ['', 'it is not a URL'],
  ['https://', 'it is not a URL'],
  ['https://user@example.org/', 'must not hold a name or a password'],
  ['https://example.org:secret@evil.example/', 'must not hold a name or a password'],
  ['https://:x@evil.example/', 'must not hold a name or a password'],
  ['http:\\\\127.0.0.1\\', 'backslash'],
  ['https://example.org\\@evil.example/', 'backslash'],
  ['https://exa\tmple.org/', 'control character'],
  ['https://example.org/\r\nHost: evil', 'control character'],
  [' https://example.org/', 'space'],
  ['https://example.org/a b', 'space'],
  ['https://example.org/\0', 'control character'],
  ['https://example..org/', 'empty or overlong'],
  ['https://example.org../', 'empty or overlong'],
  ['https://./', 'empty or overlong'],
  [`https://${'a'.repeat(64)}.org/`, 'empty or overlong'],
  ['https://[fe80::1%25eth0]/', 'it is not a URL'],
  ['https://[::1', 'it is not a URL'],
  ['https://1.2.3.4.5/', 'it is not a URL'],
  ['https://256.256.256.256/', 'it is not a URL'],
  ['https://example.org:99999/', 'it is not a URL'],
  ['https://exa<mple.org/', 'it is not a URL'],
  [`https://example.org/${'a'.repeat(9000)}`, 'more than 8192 characters'],
])('%j is refused, and why is said', (text, detail) => {
  expect(() => parseUrl(text)).toThrow(detail)
})

test.each([
  ['Example.ORG.', 'example.org'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['127.1', '127.0.0.1'],
  ['::1', '::1'],
  ['[::1]', '::1'],
  ['0:0:0:0:0:0:0:1', '::1'],
])('the host %s is %s', (text, host) => {
  expect(parseHost(text)).toBe(host)
})

test.each([
  'a/b',
  'a@b',
  'a:80',
  'a?b',
  'a#b',
  'a b',
  '',
  'fe80::1%eth0',
  '[::1',
  'a%2eb',
  'http://a',
])('the host %j is refused', (text) => {
  expect(() => parseHost(text)).toThrow(GatehouseError)
})

test('an end point is a host and a port', () => {
  expect(parseEndpoint('Example.org:443')).toEqual({ host: 'example.org', port: 443 })
  expect(parseEndpoint('[::1]:80')).toEqual({ host: '::1', port: 80 })
  for (const text of ['a', 'a:0', 'a:65536', 'a:b', '::1:80', ':80', 'a:80:90', 'a/b:80', 'a:8 0'])
    expect(parseEndpoint(text), text).toBeNull()
})

test('what was read once reads the same again, and so does its port', () => {
  fc.assert(
    fc.property(
      fc.webUrl({ withQueryParameters: true, validSchemes: ['http', 'https'] }),
      (text) => {
        const url = parseUrl(text)
        expect(parseUrl(url.href).href).toBe(url.href)
        expect(portOf(url)).toBeGreaterThan(0)
        expect(url.href.startsWith(`${url.protocol}//${url.host}/`)).toBe(true)
      },
    ),
  )
})

test('whatever is read, no text hides another host than the one that is told', () => {
  const parts = fc.constantFrom(
    'https://',
    'http://',
    'a.example',
    '@',
    ':',
    '/',
    '\\',
    '.',
    '#',
    '?',
    '%40',
    '\t',
    '[',
    ']',
    '127.1',
    '。',
  )
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 9 }), (all) => {
      let url: URL
      try {
        url = parseUrl(all.join(''))
      } catch (error) {
        expect(error).toBeInstanceOf(GatehouseError)
        return
      }
      expect(url.href).toMatch(/^https?:\/\/[^/@\\\s]+\//)
      expect(url.username + url.password + url.hash).toBe('')
      expect(url.hostname).not.toMatch(/\.$/)
    }),
    { numRuns: 5_000 },
  )
})
