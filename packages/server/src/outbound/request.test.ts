import { expect, test } from 'vitest'
import { get, namesFrom, never, openCanary, outboundWith, textOf } from './testing.ts'

test('reaches what the operator listed, by address and by name', async () => {
  await using server = await openCanary('127.0.0.1', (request, response) => {
    response.setHeader('x-path', request.url ?? '')
    response.end('hello')
  })
  const outbound = outboundWith(
    { privateTargets: [`127.0.0.1:${server.port}`] },
    { resolve: namesFrom({ 'intern.example': ['127.0.0.1'] }) },
  )
  for (const host of ['127.0.0.1', 'intern.example', 'INTERN.example.']) {
    await using response = await outbound.request(
      get(`http://${host}:${server.port}/a?b=c#d`),
      never,
    )
    expect(response.status).toBe(200)
    expect(response.headers['x-path']).toBe('/a?b=c')
    expect(await textOf(response.body)).toBe('hello')
  }
  expect(server.hits).toHaveLength(3)
  expect(server.hits[2]?.headers.host).toBe(`intern.example:${server.port}`)
})

test('reaches nothing of this machine that is not listed', async () => {
  await using server = await openCanary('127.0.0.1')
  const outbound = outboundWith({ ports: [server.port] })
  await expect(outbound.request(get(server.url), never)).rejects.toMatchObject({
    type: 'HostUnreachable',
  })
  expect(server.connections()).toBe(0)
})
