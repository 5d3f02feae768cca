import type { MessageStructureObject } from 'imapflow'
import { expect, test } from 'vitest'
import { outlineOf } from './structure.ts'

const leaf = (
  type: string,
  change: Partial<MessageStructureObject> = {},
): MessageStructureObject => ({
  type,
  part: '1',
  size: 10,
  ...change,
})
const multi = (...childNodes: MessageStructureObject[]): MessageStructureObject => ({
  type: 'multipart/mixed',
  childNodes,
})

test('texts are read, all else is attached, in the order of the message', () => {
  const outline = outlineOf(
    multi(
      leaf('text/plain', { part: '1', parameters: { charset: 'ISO-8859-1', format: 'flowed' } }),
      leaf('text/html', { part: '2', encoding: 'BASE64' }),
      leaf('text/plain', { part: '3', disposition: 'attachment' }),
      leaf('application/pdf', { part: '4', dispositionParameters: { filename: 'a.pdf' } }),
    ),
  )
  expect(outline.texts).toMatchObject([
    { part: '1', kind: 'plain', charset: 'iso-8859-1', flowed: true, encoding: '7bit' },
    { part: '2', kind: 'html', charset: 'utf-8', encoding: 'base64' },
  ])
  expect(outline.attachments.map(({ part, name }) => [part, name])).toEqual([
    ['3', ''],
    ['4', 'a.pdf'],
  ])
})

test('a mail in a mail is an attachment, whatever it holds', () => {
  const inner = leaf('message/rfc822', { childNodes: [leaf('text/plain')] })
  expect(outlineOf(multi(inner))).toMatchObject({ texts: [], attachments_total: 1 })
})

test('what a sender writes in the place of types, charsets and names breaks out of nothing', () => {
  const outline = outlineOf(
    multi(
      leaf('text/plain', { parameters: { charset: 'utf-8"\r\nX: y' }, encoding: 'base64\r\nX: y' }),
      leaf('image/png\r\nX: y', { dispositionParameters: { filename: '../../\u202egnp.a\u0000' } }),
    ),
  )
  expect(outline.texts[0]).toMatchObject({ charset: 'utf-8', encoding: '7bit' })
  expect(outline.attachments[0]).toMatchObject({
    content_type: 'application/octet-stream',
    name: '.._.._gnp.a',
  })
})

test('of too much only the beginning is looked at, and it is said', () => {
  const many = outlineOf(multi(...Array.from({ length: 5_000 }, () => leaf('image/png'))))
  expect(many.attachments).toHaveLength(100)
  expect(many.more).toBe(true)
  expect(outlineOf(multi(leaf('text/plain'))).more).toBe(false)
})
