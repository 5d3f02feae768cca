import { randomBytes } from 'node:crypto'
import { processorMs } from '@gatehouse/testkit/processor-time'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Scrubber } from './scrubber.ts'

const value = 'CANARY-SEC "q" & <ä> %41\\n/+?=0123456789'
const knowing = (...secrets: readonly string[]) => {
  const scrubber = new Scrubber()
  for (const [i, secret] of secrets.entries()) scrubber.know(`s${i}`, secret)
  return scrubber
}

const escapeAll = (text: string, escape: (char: string) => string) =>
  Array.from(text, escape).join('')
const html = (text: string) => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)
const spellings: readonly (readonly [string, (text: string) => string])[] = [
  ['as it is', (text) => text],
  ['in upper case', (text) => text.toUpperCase()],
  ['in base64', (text) => Buffer.from(text).toString('base64')],
  ['in base64 after one byte', (text) => Buffer.from(`x${text}yz`).toString('base64')],
  ['in base64 after two bytes', (text) => Buffer.from(`xx${text}y`).toString('base64')],
  ['in base64url', (text) => Buffer.from(`user:${text}`).toString('base64url')],
  [
    'in base64 with broken lines',
    (text) => Buffer.from(`pad ${text} pad`).toString('base64').replace(/.{20}/g, '$&\r\n'),
  ],
  ['in base64 of UTF-16', (text) => Buffer.from(text, 'utf16le').toString('base64')],
  ['in hex', (text) => Buffer.from(text).toString('hex')],
  ['in upper-case hex', (text) => Buffer.from(text).toString('hex').toUpperCase()],
  [
    'in hex with colons',
    (text) =>
      Buffer.from(text)
        .toString('hex')
        .replace(/..(?=.)/g, '$&:'),
  ],
  [
    'in hex with spaces',
    (text) =>
      Buffer.from(text)
        .toString('hex')
        .replace(/..(?=.)/g, '$& '),
  ],
  ['in a URL', (text) => encodeURIComponent(text)],
  ['in a URL, every byte', (text) => Buffer.from(text).toString('hex').replace(/../g, '%$&')],
  ['in a form', (text) => new URLSearchParams({ t: text }).toString()],
  ['in a URL in a URL', (text) => encodeURIComponent(encodeURIComponent(text))],
  ['in JSON', (text) => JSON.stringify(text)],
  ['in JSON in JSON', (text) => JSON.stringify(JSON.stringify({ text }))],
  [
    'in JSON, every character',
    (text) => escapeAll(text, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`),
  ],
  ['in JSON with escaped slashes', (text) => JSON.stringify(text).replaceAll('/', '\\/')],
  ['in Latin-1', (text) => Buffer.from(text, 'latin1').toString('latin1')],
  ['in Latin-1 read as UTF-8', (text) => Buffer.from(text, 'latin1').toString('utf8')],
  ['in UTF-8 read as Latin-1', (text) => Buffer.from(text).toString('latin1')],
  ['in base64 of Latin-1', (text) => Buffer.from(text, 'latin1').toString('base64')],
  ['in HTML', html],
  [
    'in HTML, by numbers',
    (text) => escapeAll(text, (c) => `&#x${c.codePointAt(0)?.toString(16)};`),
  ],
  ['in a string with \\x', (text) => Buffer.from(text).toString('hex').replace(/../g, '\\x$&')],
]

describe('scrubbing', () => {
  test.each(spellings)('finds a secret %s', (_, spell) => {
    const spelled = spell(value)
    const clean = knowing(value).scrub(`before ${spelled} after`)
    expect(clean).toContain('[secret:s0]')
    expect(clean.startsWith('before ')).toBe(true)
    expect(clean.endsWith(' after')).toBe(true)
    for (const [, other] of spellings)
      expect(clean.toLowerCase()).not.toContain(other(value).toLowerCase())
  })

  test('leaves no bits of it at the edges of base64', () => {
    const secret = 'ABCDEFGH'
    const clean = knowing(secret).scrub(Buffer.from(secret).toString('base64'))
    expect(clean).toBe('[secret:s0]=')
    const inner = knowing(secret).scrub(Buffer.from(`xx${secret}`).toString('base64'))
    expect(inner).toMatch(/^eH\[secret:s0\]=*$/)
  })

  test('gives back the very same object where nothing is found', () => {
    const given = { a: ['text', 1, null, { deep: 'nothing to see here' }], n: 12_345_678 }
    expect(knowing(value).scrub(given)).toBe(given)
    expect(new Scrubber().scrub(given)).toBe(given)
  })

  test('looks into keys, lists, bytes and long numbers, and leaves their neighbours alone', () => {
    const scrubber = knowing('87654321', value)
    expect(
      scrubber.scrub({ [value]: [`x${value}`, 87_654_321, 87_654_32], other: 'kept', no: null }),
    ).toEqual({
      '[secret:s1]': ['x[secret:s1]', '[secret:s0]', 8_765_432],
      other: 'kept',
      no: null,
    })
    expect(Buffer.from(scrubber.scrub(new TextEncoder().encode('=87654321=')))).toEqual(
      Buffer.from('=[secret:s0]='),
    )
  })

  test('replaces secrets that overlap, and the same one again and again', () => {
    const scrubber = knowing('aaaabbbbcccc', 'bbbbccccdddd')
    expect(scrubber.scrub('aaaabbbbccccdddd')).toBe('[secret:s0]')
    expect(scrubber.scrub('aaaabbbbcccc'.repeat(3))).toBe('[secret:s0]'.repeat(3))
  })

  test('finds the password of a name and password alone', () => {
    const scrubber = knowing('ana:hunter2-hunter2', 'https://example.org/secret')
    expect(scrubber.scrub('ana logs in with hunter2-hunter2')).toBe('ana logs in with [secret:s0]')
    expect(scrubber.scrub('see //example.org/secret')).toBe('see //example.org/secret')
  })

  test('finds what is known later in what was clean before', () => {
    const scrubber = knowing('first-secret-value')
    expect(scrubber.scrub(value)).toBe(value)
    scrubber.know('later', value)
    expect(scrubber.scrub(value)).toBe('[secret:later]')
  })

  test('of a name knows the newest values alone, so that what is replaced all the time takes no more', () => {
    const scrubber = new Scrubber()
    const tokens = Array.from({ length: 30 }, (_, i) => `token-number-${100 + i}`)
    scrubber.know('mine', 'never-replaced')
    for (const token of tokens) scrubber.know('login', token)
    const seen = tokens.filter((token) => scrubber.scrub(token) === token)
    expect(seen).toEqual(tokens.slice(0, 10))
    expect(scrubber.scrub('never-replaced')).toBe('[secret:mine]')
    // Used again, it is the newest, and it stays known as long as any name has it.
    scrubber.know('login', tokens[10] ?? '')
    scrubber.know('other', tokens[11] ?? '')
    for (let i = 0; i < 19; i += 1) scrubber.know('login', `another-token-${i}`)
    expect(scrubber.scrub(tokens[10])).toBe('[secret:login]')
    expect(scrubber.scrub(tokens[11])).toBe('[secret:login]')
    expect(scrubber.scrub(tokens[12])).toBe(tokens[12])
  })

  test('is done in time that grows with the text, whatever the text', () => {
    const scrubber = knowing(
      ...Array.from({ length: 40 }, () => randomBytes(24).toString('base64')),
    )
    const took = (text: string) => {
      const from = processorMs()
      scrubber.scrub(text)
      return processorMs() - from
    }
    const unit = randomBytes(300_000).toString('base64')
    took(unit)
    const short = took(unit)
    const long = took(unit.repeat(8))
    expect(long / short).toBeLessThan(40)
  })
})

async function* inChunks(bytes: Uint8Array, sizes: readonly number[]) {
  for (let at = 0, n = 0; at < bytes.length; n += 1) {
    const size = sizes[n % sizes.length] as number
    yield bytes.subarray(at, at + size)
    at += size
  }
}

const collected = async (chunks: AsyncIterable<Uint8Array>) => {
  const parts: Uint8Array[] = []
  for await (const chunk of chunks) parts.push(chunk)
  return Buffer.concat(parts).toString('utf8')
}

describe('scrubbing a stream', () => {
  test.each(spellings)('finds a secret %s, wherever the chunks are cut', async (_, spell) => {
    const scrubber = knowing(value)
    const noise = 'lorem ipsum %20 \\n &amp; dolor '
    const text = Array.from({ length: 12 }, (_x, i) => noise.repeat(i * 3) + spell(value)).join('|')
    for (const sizes of [[1], [7, 1, 64], [1000], [65_536]]) {
      const clean = await collected(scrubber.scrubStream(inChunks(Buffer.from(text), sizes)))
      expect(clean).toBe(scrubber.scrub(text))
      expect(clean.match(/\[secret:s0\]/g)).toHaveLength(12)
    }
  })

  test('passes bytes on untouched that hold no secret', async () => {
    const bytes = randomBytes(200_000)
    const parts: Uint8Array[] = []
    for await (const part of knowing(value).scrubStream(inChunks(bytes, [4096]))) parts.push(part)
    expect(Buffer.concat(parts).equals(bytes)).toBe(true)
  })

  test('does not hold the whole stream back', async () => {
    const source = inChunks(Buffer.alloc(1_000_000, 'lorem ipsum '), [16_384])
    let [reads, longest] = [0, 0]
    async function* counted() {
      for await (const chunk of source) {
        reads += 1
        yield chunk
      }
    }
    for await (const _ of knowing(value).scrubStream(counted())) {
      longest = Math.max(longest, reads)
      reads = 0
    }
    expect(longest).toBeLessThan(4)
  })

  test('says of any text what scrubbing it whole says', async () => {
    const secrets = ['hunter2-hunter2', 'p@ss w0rd "x"', 'ÄÖÜ-straße-1']
    const piece = fc.oneof(
      fc.constantFrom('%', '\\', '&', '&#', '\\u00', '%25', ' ', '\n', 'a', '"'),
      fc
        .tuple(fc.constantFrom(...secrets), fc.constantFrom(...spellings))
        .map(([s, [, f]]) => f(s)),
      fc.tuple(fc.constantFrom(...secrets), fc.nat(12)).map(([s, n]) => s.slice(0, n)),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 60 }), fc.nat(40), async (pieces, n) => {
        const text = pieces.join('')
        const clean = await collected(
          knowing(...secrets).scrubStream(inChunks(Buffer.from(text), [n + 1, 3])),
        )
        for (const secret of secrets) {
          expect(clean).not.toContain(secret)
          expect(clean).not.toContain(Buffer.from(secret).toString('hex'))
          expect(clean).not.toContain(encodeURIComponent(secret))
        }
      }),
      { numRuns: 200 },
    )
  })
})
