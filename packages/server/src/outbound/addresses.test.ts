import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseHost, parseUrl } from '../domain/web-address.ts'
import { canonicalAddress, isGlobalAddress } from './addresses.ts'

const places = [
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '93.184.216.34',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.1',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.0',
  '192.0.3.0',
  '192.88.98.255',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '198.51.99.255',
  '203.0.114.0',
  '223.255.255.255',
  '2001:200::1',
  '2001:4860:4860::8888',
  '2606:4700::1111',
  '2620:4f:8000::1',
  '2a00:1450:4001:80b::200e',
  '3ffe::1',
  '64:ff9b::8.8.8.8',
  '64:ff9b::101:101',
  '::ffff:8.8.8.8',
  '::ffff:808:808',
]

const elsewhere = [
  ...['0.0.0.0', '0.1.2.3', '0.255.255.255', '10.0.0.0', '10.255.255.255', '100.64.0.0'],
  ...['100.127.255.255', '127.0.0.0', '127.0.0.1', '127.1.2.3', '127.255.255.255', '169.254.0.0'],
  ...['169.254.169.254', '169.254.255.255', '172.16.0.0', '172.31.255.255', '192.0.0.0'],
  ...['192.0.0.170', '192.0.0.255', '192.0.2.1', '192.88.99.1', '192.168.0.0', '192.168.255.255'],
  ...['198.18.0.0', '198.19.255.255', '198.51.100.7', '203.0.113.9', '224.0.0.1'],
  ...['239.255.255.255', '240.0.0.1', '255.255.255.255'],
  // IPv6 that is none, its own machine, a link, a site, a group
  ...['::', '::1', '::2', 'fe80::1', 'fe80::1%eth0', 'febf::1', 'fec0::1', 'fc00::1', 'fd00::1'],
  ...['fdff:ffff::1', 'ff02::1', 'ff0e::1', '100::1', '100:0:0:1::1', '5f00::1', '1fff::1'],
  ...['4000::1', '64:ff9b:1::1', '64:ff9b:1::8.8.8.8', '2001:db8::1', '3fff::1', '3fff:fff::1'],
  ...['2001::1', '2001:0:4136:e378::1', '2001:20::1', '2001:2::1', '2001:1ff:ffff::1'],
  // IPv4 inside of IPv6
  ...['::ffff:127.0.0.1', '::ffff:7f00:1', '::FFFF:10.0.0.1', '::ffff:a9fe:a9fe', '::ffff:0:0'],
  ...['::127.0.0.1', '::8.8.8.8', '::7f00:1', '::ffff:0:127.0.0.1', '::ffff:0:8.8.8.8'],
  ...['64:ff9b::127.0.0.1', '64:ff9b::a9fe:a9fe', '64:ff9b::10.0.0.1', '64:ff9b::'],
  ...['2002:7f00:1::', '2002:a9fe:a9fe::1', '2002:808:808::1', '2002::1'],
  // No address in the usual spelling: names, other bases, zones, ports, brackets, spaces
  ...[
    '',
    ' ',
    'localhost',
    '127.1',
    '0x7f.1',
    '0x7f000001',
    '2130706433',
    '017700000001',
    '127.0.1',
  ],
  ...['127.0.0.1.', ' 127.0.0.1', '127.0.0.1 ', '127.0.0.1:80', '[::1]', '1.1.1', '1.1.1.1.1', '8'],
  ...['8.8.8.8%eth0', '2606:4700::1111%lo', '256.1.1.1', '08.8.8.8', '8.8.8.08', '1.1.1.1/32'],
  ...['①②⑦.⓪.⓪.①', '127。0。0。1', '::g', ':::', '1::2::3', '12345::', 'undefined'],
]

test.each(places)('%s is a place on the internet', (address) => {
  expect(isGlobalAddress(address)).toBe(true)
})

test.each(elsewhere)('%j is none', (address) => {
  expect(isGlobalAddress(address)).toBe(false)
})

/** Spellings of this machine in a URL, one way and another. */
const spellings = (() => {
  const hex = (n: number) => `0x${n.toString(16)}`
  const octal = (n: number) => `0${n.toString(8)}`
  const padded = (n: number) => `000${n.toString(8)}`
  const written = (digits: string) => (n: number) =>
    String(n).replaceAll(/\d/g, (digit) => digits.charAt(Number(digit)))
  const circled = written('⓪①②③④⑤⑥⑦⑧⑨')
  const wide = written('０１２３４５６７８９')
  const forms = [String, hex, octal, padded, circled, wide]
  const dots = ['.', '。', '．', '｡']
  const all: string[] = []
  for (const form of forms)
    for (const other of forms)
      for (const dot of dots) {
        all.push([form(127), other(0), other(0), other(1)].join(dot))
        all.push([form(127), other(1)].join(dot), [form(127), other(0), other(1)].join(dot))
      }
  for (const form of forms) all.push(form(2_130_706_433))
  return [...new Set([...all, ...all.map((text) => `${text}.`)])]
})()

test('every spelling of a loopback address is one address once it is read', () => {
  expect(spellings.length).toBeGreaterThan(500)
  for (const text of spellings) {
    expect(parseUrl(`http://${text}/`).hostname, text).toBe('127.0.0.1')
    expect(parseHost(text), text).toBe('127.0.0.1')
  }
})

const octet = fc.integer({ min: 0, max: 255 })
const ipv4 = fc.tuple(octet, octet, octet, octet).map((all) => all.join('.'))
const group = fc.integer({ min: 0, max: 0xffff }).map((value) => value.toString(16))
const ipv6 = fc.array(group, { minLength: 8, maxLength: 8 }).map((all) => all.join(':'))

test('an IPv4 address in IPv6 counts as itself, or as nothing', () => {
  fc.assert(
    fc.property(ipv4, (address) => {
      expect(isGlobalAddress(`::ffff:${address}`)).toBe(isGlobalAddress(address))
      expect(isGlobalAddress(`64:ff9b::${address}`)).toBe(isGlobalAddress(address))
      expect(canonicalAddress(`::ffff:${address}`)).toBe(address)
      expect(isGlobalAddress(`::${address}`)).toBe(false)
      const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number)
      const hex = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
      expect(isGlobalAddress(`2002:${hex}::1`)).toBe(false)
    }),
    { numRuns: 2_000 },
  )
})

test('nothing outside of 2000::/3 is a place but NAT64', () => {
  fc.assert(
    fc.property(ipv6, (address) => {
      const first = Number.parseInt(address.split(':')[0] ?? '', 16)
      if (first >>> 13 !== 1)
        expect(isGlobalAddress(address)).toBe(address.startsWith('64:ff9b:0:0:0:0:'))
      expect(isGlobalAddress(address)).toBe(isGlobalAddress(canonicalAddress(address) ?? ''))
      expect(isGlobalAddress(`${address}%1`)).toBe(false)
    }),
    { numRuns: 5_000 },
  )
})

test('no text of any kind throws or counts by chance', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
      if (!/^[0-9a-f.:]+$/i.test(text)) expect(isGlobalAddress(text)).toBe(false)
    }),
    { numRuns: 5_000 },
  )
})
