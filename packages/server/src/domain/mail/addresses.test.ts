import { expect, test } from 'vitest'
import { addressFault, headerFault } from './addresses.ts'

test.each([
  'ben@example.net',
  'ben.miller+list@mail.example.co.uk',
  "o'hara@example.org",
  'ben@localhost',
  'ben@xn--mller-kva.example',
])('takes %s', (address) => {
  expect(addressFault(address)).toBeNull()
})

test.each([
  '',
  'ben',
  '@example.net',
  'ben@',
  'ben@@example.net',
  'Ben <ben@example.net>',
  'ben@example.net, eve@example.net',
  'ben@example.net;',
  '"ben"@example.net',
  '.ben@example.net',
  'ben..b@example.net',
  'ben@-example.net',
  'ben@example..net',
  'ben@[127.0.0.1]',
  'bеn@example.net',
  'ben@exаmple.net',
  'ben@example.net\r\nBcc: eve@example.net',
  'ben\u200b@example.net',
  `${'b'.repeat(65)}@example.net`,
  `ben@${'e'.repeat(250)}.net`,
])('refuses %j and says why', (address) => {
  expect(addressFault(address)).toMatch(/\w/)
})

test.each(['Report', 'Grüße 🙂', 'a = b ? c', '=?', 'Re: =?=', ''])(
  'takes the header %j',
  (line) => {
    expect(headerFault(line)).toBeNull()
  },
)

test.each([
  'a\nb',
  'a\rb',
  'a\u0000b',
  'a\u2028b',
  'a\u0085b',
  '=?utf-8?q?a?=',
  'x =?UTF-8?B?YQ==?= y',
  '\ud800',
])('refuses the header %j', (line) => {
  expect(headerFault(line)).toMatch(/\w/)
})
