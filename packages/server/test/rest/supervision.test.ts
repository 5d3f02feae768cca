import { Configuration } from '@gatehouse/contract'
import { createKit, type Kit } from '@gatehouse/testkit'
import { expect, test } from 'vitest'
import { createRestApp } from '../../src/transport/rest/create-rest-app.ts'

const openApi = async (kit: Kit) => {
  const silent = () => undefined
  const rest = createRestApp({
    app: kit.app,
    version: '1.2.3',
    ids: { next: (prefix) => `${prefix}-00000000000000000000000000` },
    log: { debug: silent, info: silent, warn: silent, error: silent },
  })
  const { token } = await kit.app.createUserToken(kit.operator(), {
    label: 'ana',
    role: 'operator',
  })
  return async (method: string, path: string, body?: unknown) => {
    const response = await rest.fetch(
      new Request(`http://gatehouse.localhost${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    )
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json')
    return { status: response.status, body: (isJson ? JSON.parse(text) : text) as unknown }
  }
}

const openKit = async () => {
  const kit = await createKit()
  for (const name of ['alpha', 'beta']) await kit.agent(name)
  return kit
}

test('shows, sets and deletes values by keys that are texts, whatever they spell', async () => {
  await using kit = await openKit()
  const call = await openApi(kit)
  for (const key of ['a/b', '../beta', '100%', 'é?#&', '%2e%2e', '__proto__']) {
    const path = `/api/state/alpha/${encodeURIComponent(key)}`
    expect(await call('PUT', path, { value: { at: key } })).toMatchObject({ status: 200 })
    expect(await call('GET', path)).toMatchObject({
      status: 200,
      body: { agent: 'alpha', key, value: { at: key }, version: 1 },
    })
    expect(await call('GET', path.replace('alpha', 'beta'))).toMatchObject({ status: 404 })
    expect(await call('DELETE', path)).toEqual({
      status: 200,
      body: { agent: 'alpha', key, deleted: true },
    })
    expect(await call('DELETE', path)).toMatchObject({ status: 404 })
  }
  expect(await kit.audit({ capability: 'state.deleted' })).toHaveLength(6)
})

test('lists keys of an agent and of the shared area, and no values', async () => {
  await using kit = await openKit()
  const call = await openApi(kit)
  await kit.invoke('alpha', 'state.set', { key: 'mine', value: 'x' })
  await kit.invoke('alpha', 'shared.set', { key: 'ours', value: 'y' })
  const time = expect.stringMatching(/^\d{4}-.*Z$/)
  const entry = { size_bytes: 3, version: 1, updated_at: time }
  const used = { total: 1, size_bytes: 3, quota_bytes: 100 * 1024 * 1024 }
  expect(await call('GET', '/api/state/alpha')).toEqual({
    status: 200,
    body: { agent: 'alpha', keys: [{ key: 'mine', ...entry }], ...used },
  })
  expect(await call('GET', '/api/state/shared')).toEqual({
    status: 200,
    body: { agent: 'shared', keys: [{ key: 'ours', ...entry }], ...used },
  })
  expect(await call('GET', '/api/state/shared/ours')).toMatchObject({ body: { value: 'y' } })
  expect(await call('GET', '/api/state/beta')).toMatchObject({ body: { agent: 'beta', keys: [] } })
  for (const path of ['nobody', 'nobody/k', 'alpha/..%2fbeta', `alpha/${'x'.repeat(513)}`])
    expect(await call('GET', `/api/state/${path}`)).toMatchObject({ status: 404 })
})

test('shows who loses a race the value that won', async () => {
  await using kit = await openKit()
  const call = await openApi(kit)
  await call('PUT', '/api/state/shared/k', { value: 1, expected_version: 0 })
  expect(await call('PUT', '/api/state/shared/k', { value: 2, expected_version: 0 })).toMatchObject(
    {
      status: 409,
      body: { code: 'VersionConflict', current: { value: 1, version: 1 } },
    },
  )
  expect(await call('PUT', '/api/state/shared/k', {})).toMatchObject({ status: 400 })
})

test('lists alerts and takes note of them', async () => {
  await using kit = await openKit()
  const call = await openApi(kit)
  await kit.invoke('alpha', 'alerts.send', { message: 'help', severity: 'critical' })
  const { body } = await call('GET', '/api/alerts?status=open')
  const { alerts } = body as { alerts: { id: string }[] }
  expect(body).toMatchObject({ total: 1, alerts: [{ severity: 'critical', status: 'open' }] })
  const id = alerts[0]?.id ?? ''
  expect(id).toMatch(/^alert-[0-9a-hjkmnp-tv-z]{26}$/)
  expect(await call('POST', `/api/alerts/${id}/acknowledge`)).toMatchObject({
    status: 200,
    body: { status: 'acknowledged', acknowledged_by: 'user:ana' },
  })
  expect(await call('POST', '/api/alerts/alert-x/acknowledge')).toMatchObject({ status: 404 })
})

test('pauses and resumes everything, and shows metrics of it', async () => {
  await using kit = await openKit()
  const call = await openApi(kit)
  await kit.invoke('alpha', 'system.time')
  expect(await call('POST', '/api/pause')).toMatchObject({ status: 200, body: { count: 2 } })
  expect(await call('GET', '/api/pause')).toMatchObject({
    body: { paused: true, paused_by: 'user:ana', agents: ['alpha', 'beta'] },
  })
  expect((await kit.invoke('alpha', 'system.time')).kind).toBe('denied')
  const { body } = await call('GET', '/metrics')
  expect(body).toContain('gatehouse_agents{status="paused"} 2\n')
  expect(body).toContain('gatehouse_calls_total{capability="system.time",outcome="success"} 1\n')
  expect(body).toContain('gatehouse_calls_total{capability="system.time",outcome="denied"} 1\n')
  expect(await call('POST', '/api/resume')).toMatchObject({ status: 200, body: { count: 2 } })
  expect((await kit.invoke('alpha', 'system.time')).kind).toBe('succeeded')
})

test('explains every setting, with the version and the file that was read', async () => {
  await using kit = await openKit()
  const call = await openApi(kit)
  const { status, body } = await call('GET', '/api/configuration')
  expect(status).toBe(200)
  expect(body).toMatchObject({ version: expect.stringMatching(/^\d+\.\d+\.\d+/), file: null })
  const { settings } = Configuration.parse(body)
  expect(settings.find(({ key }) => key === 'data_dir')).toMatchObject({
    value: kit.folder,
    origin: 'flag',
    source: '--data-dir',
  })
})
