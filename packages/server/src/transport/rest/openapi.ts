import * as contract from '@gatehouse/contract'
import { type Route, routes } from '@gatehouse/contract/routes'
import { OpenAPIHono, type RouteConfig } from '@hono/zod-openapi'
import { z } from 'zod'
import { paramsOf } from './parse-input.ts'
import { type Document, shareParts } from './share-parts.ts'

/** Every record that the contract exports, by its name there. A simple type loses `null` where it has a name. */
const named = Object.entries<unknown>(contract).filter(
  (entry): entry is [string, z.ZodObject] => entry[1] instanceof z.ZodObject,
)

/** Errors that any route may answer: before it is found, or because the service is not well. */
const everywhere: readonly contract.ErrorType[] = [
  'InvalidRequest',
  'HostNotAllowed',
  'OriginNotAllowed',
  'InternalError',
  'AuditUnavailable',
  'StorageUnavailable',
]
const behindLogin: readonly contract.ErrorType[] = [
  'AuthenticationFailed',
  'PermissionDenied',
  'TooManyFailures',
]
const withBody: readonly contract.ErrorType[] = [
  'BodyTooLarge',
  'UnsupportedMediaType',
  'Overloaded',
]
/** A name or an id in the path that is none. */
const withParams: readonly contract.ErrorType[] = ['NotFound']

const errorsOf = (route: Route): readonly contract.ErrorType[] => [
  ...everywhere,
  ...(route.permission === 'public' ? [] : behindLogin),
  ...(route.body ? withBody : []),
  ...(route.path.includes(':') ? withParams : []),
  ...(route.errors ?? []),
]

const mediaTypes = {
  lines: 'application/x-ndjson',
  events: 'text/event-stream',
  text: 'text/plain',
  bytes: 'application/octet-stream',
} as const

const etagHeader = {
  ETag: { description: 'Version of the record', schema: { type: 'string' } },
} as const

const ifMatch = z.object({
  'if-match': z
    .string()
    .optional()
    .describe('`ETag` of the record as it was read: refused with 412 where it has changed since'),
})

function responsesOf(route: Route): RouteConfig['responses'] {
  const { answer, success = 200 } = route
  const content =
    typeof answer === 'string'
      ? { [mediaTypes[answer]]: { schema: z.string() } }
      : { 'application/json': { schema: answer } }
  const headers = route.versioned ? { headers: etagHeader } : {}
  const responses: RouteConfig['responses'] = {
    [success]: { description: 'Done', content, ...headers },
  }
  for (const [status, types] of groupByStatus(errorsOf(route)))
    responses[status] = {
      description: [...new Set(types)].join(', '),
      content: {
        'application/problem+json': { schema: contract.Problem },
        ...(status === 503 && route.mayBeUnavailable ? content : {}),
      },
    }
  return responses
}

function groupByStatus(types: readonly contract.ErrorType[]): Map<number, contract.ErrorType[]> {
  const groups = new Map<number, contract.ErrorType[]>()
  for (const type of types) {
    const { http } = contract.errorTable[type]
    groups.set(http, [...(groups.get(http) ?? []), type])
  }
  return groups
}

function configOf(name: string, route: Route): RouteConfig {
  const { query, body } = route
  const params = paramsOf(route)
  return {
    method: route.method.toLowerCase() as Lowercase<Route['method']>,
    path: route.path.replaceAll(/:(\w+)/g, '{$1}'),
    operationId: name,
    summary: route.summary,
    description:
      route.permission === 'public'
        ? 'Needs no login.'
        : `Needs the permission \`${route.permission}\`.`,
    tags: [route.path.split('/')[2] ?? 'service'],
    security: route.permission === 'public' ? [] : [{ userToken: [] }, { login: [] }],
    request: {
      ...(params ? { params } : {}),
      ...(query ? { query } : {}),
      ...(route.versioned && body ? { headers: ifMatch } : {}),
      ...(body ? { body: { content: { 'application/json': { schema: body } } } } : {}),
    },
    responses: responsesOf(route),
  }
}

/** The OpenAPI document of the routes: made from the data that they are served from. */
export function createOpenApi(version: string): Readonly<Record<string, unknown>> {
  // The generator reads a name from here; its own `.openapi(name)` would make a copy that nothing refers to.
  for (const [refId, schema] of named)
    if (!z.globalRegistry.has(schema)) z.globalRegistry.add(schema, { _internal: { refId } })
  const hono = new OpenAPIHono()
  hono.openAPIRegistry.registerComponent('securitySchemes', 'userToken', {
    type: 'http',
    scheme: 'bearer',
    description: 'A user token: `gatehouse_user_` and 43 characters.',
  })
  hono.openAPIRegistry.registerComponent('securitySchemes', 'login', {
    type: 'apiKey',
    in: 'cookie',
    name: 'gatehouse_session',
    description: 'A login, at the dashboard only. What changes something needs its own Origin too.',
  })
  for (const [name, route] of Object.entries<Route>(routes))
    hono.openAPIRegistry.registerPath(configOf(name, route))
  const document = hono.getOpenAPI31Document({
    openapi: '3.1.0',
    info: {
      title: 'Gatehouse REST API',
      version,
      description: 'REST API for people and programs to watch and control a Gatehouse server.',
      license: { name: 'Apache-2.0' },
    },
  })
  return shareParts(document as unknown as Document)
}
