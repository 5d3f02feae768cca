import type { Route } from '@gatehouse/contract/routes'
import { queryInteger } from '@gatehouse/contract/routes/fields'
import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createParser } from './parse-input.ts'

/** Input that a handler gets of a request to the thing `a`. */
async function parsedBy(taken: Pick<Route, 'query' | 'body'>, sent: object): Promise<object> {
  const path = '/api/things/:name'
  const parse = createParser({
    method: 'PUT',
    path,
    summary: '',
    permission: 'read',
    answer: 'text',
    ...taken,
  })
  let parsed: object = {}
  const hono = new Hono().put(path, async (context) => {
    parsed = await parse(context.req)
    return context.body(null)
  })
  const headers = { 'content-type': 'application/json' }
  await hono.request('/api/things/a', { method: 'PUT', headers, body: JSON.stringify(sent) })
  return parsed
}

test('makes one object of what the path names and the body says', async () => {
  const body = z.strictObject({ on: z.boolean().default(true) })
  expect(await parsedBy({ body }, {})).toEqual({ name: 'a', on: true })
})

test('takes the name of the thing from the path, whatever a body says', async () => {
  const body = z.looseObject({})
  expect(await parsedBy({ body }, { name: 'b', on: 1 })).toEqual({ name: 'a', on: 1 })
})

test('leaves out what was not given', async () => {
  const limit = queryInteger({ min: 1, max: 9, default: undefined })
  const query = z.strictObject({ limit, agent: z.string().optional() })
  expect(Object.keys(await parsedBy({ query }, {}))).toEqual(['name'])
})
