import { expect, test } from 'vitest'
import { z } from 'zod'
import { type Route, routes } from './index.ts'

const all = Object.entries<Route>(routes)
const namesIn = (path: string) => [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
const fieldsOf = (shape: z.ZodType | undefined) =>
  shape instanceof z.ZodObject ? Object.keys(shape.shape) : []

test.each(all)('%s takes no two things of one name', (_name, { path, query, body }) => {
  const fields = [...namesIn(path), ...fieldsOf(query), ...fieldsOf(body)]
  expect(fields).toEqual([...new Set(fields)])
})

test.each(all)(
  '%s takes a query or a body, never both, and names what it takes',
  (_name, route) => {
    const { method, path, params = {}, query, body } = route
    expect(query && body).toBeUndefined()
    // No change by GET, and nothing in a body that a proxy may drop.
    if (method === 'GET' || method === 'DELETE') expect(body).toBeUndefined()
    if (body) expect(body).toBeInstanceOf(z.ZodObject)
    expect(namesIn(path)).toEqual(expect.arrayContaining(Object.keys(params)))
  },
)

test('no route hides a later one', () => {
  const patternOf = (path: string) => new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`)
  const hidden = all.flatMap(([name, { method, path }], index) =>
    all
      .slice(index + 1)
      .filter(([, later]) => later.method === method && patternOf(path).test(later.path))
      .map(([later]) => `${name} hides ${later}`),
  )
  expect(hidden).toEqual([])
})
