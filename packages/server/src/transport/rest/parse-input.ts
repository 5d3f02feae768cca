import { GatehouseError } from '@gatehouse/contract'
import { pathName, type Route } from '@gatehouse/contract/routes'
import type { HonoRequest } from 'hono'
import { z } from 'zod'
import { readJsonBody } from './body.ts'
import { InvalidRequest, pointedErrors } from './invalid-request.ts'

/** The parameters in the path of a route, or null where it has none. */
export function paramsOf({ path, params = {} }: Route): z.ZodObject | null {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
  if (names.length === 0) return null
  return z.object(Object.fromEntries(names.map((name) => [name, params[name] ?? pathName])))
}

function parse(part: 'query' | 'body', schema: z.ZodType, value: unknown): object {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data as object
  throw new InvalidRequest(pointedErrors(part, schema, parsed.error, value))
}

function parseQuery(schema: z.ZodType, request: HonoRequest): object {
  const all = request.queries()
  const twice = Object.keys(all).find((name) => (all[name]?.length ?? 0) > 1)
  if (twice !== undefined)
    throw new InvalidRequest([{ pointer: `?${twice}`, detail: 'is given twice' }])
  return parse('query', schema, request.query())
}

function parseParams(schema: z.ZodType, request: HonoRequest): object {
  const parsed = schema.safeParse(request.param())
  if (parsed.success) return parsed.data as object
  throw new GatehouseError('NotFound', { path: request.path })
}

/** No body is an empty object; `null` is a value like any other. */
async function parseBody(schema: z.ZodType, request: HonoRequest, bytesMax?: number) {
  const body = await readJsonBody(request.raw, bytesMax)
  return parse('body', schema, body === undefined ? {} : body)
}

export type ParseInput = (request: HonoRequest) => Promise<Readonly<Record<string, unknown>>>

/** Parser of a route's input, checked by its own shapes and made one object. */
export function createParser(route: Route): ParseInput {
  const { query, body, bodyBytesMax } = route
  const params = paramsOf(route)
  return async (request) => {
    const inPath = params ? parseParams(params, request) : {}
    const inQuery = query ? parseQuery(query, request) : {}
    const inBody = body ? await parseBody(body, request, bodyBytesMax) : {}
    // @SECURITY The path has the last word: no body names another object than the address; parse-input.test.ts.
    const all = Object.entries({ ...inPath, ...inQuery, ...inBody, ...inPath })
    return Object.fromEntries(all.filter(([, value]) => value !== undefined))
  }
}
