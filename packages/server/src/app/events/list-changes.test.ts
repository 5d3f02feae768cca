import { createKit, type Kit } from '@gatehouse/testkit'
import { until } from '@gatehouse/testkit/until'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { defineCapability } from '../../capabilities/define.ts'

const close = (purpose = 'Closes a ticket.') =>
  defineCapability({
    title: 'Close a ticket',
    name: 'tickets.close',
    version: '1.0',
    purpose,
    when_to_use: 'When it is done.',
    inputs: z.strictObject({ id: z.string().describe('Which') }),
    outputs: z.looseObject({}),
    tier: 'approval_required',
    effect: 'immediate',
    errors: [],
    run: async (_ctx, { id }) => ({ closed: id }),
  })

const isListed = async (kit: Kit): Promise<boolean> =>
  (await kit.app.listCapabilities(kit.op('coder'), {})).some(
    ({ capability }) => capability.name === 'tickets.close',
  )

test('an agent hears of capabilities that come, change and go, and each call meets those of its time', async () => {
  await using kit = await createKit()
  await kit.agent('coder')
  const told: string[] = []
  using _listening = kit.app.subscribeEvents('coder', ({ type }) => told.push(type) > 0)
  const call = () =>
    kit.app.invoke(kit.op('coder'), { capability: 'tickets.close', arguments: { id: 'T-1' } })
  const heard = async (times: number) => {
    await until(() => told.length >= times)
    expect(told).toHaveLength(times)
  }

  expect(await call()).toMatchObject({ kind: 'unknown' })
  expect(await isListed(kit)).toBe(false)
  kit.registry.replaceGroup('tickets', [close()])
  await heard(1)
  expect(await isListed(kit)).toBe(true)
  const asked = await call()
  expect(asked).toMatchObject({ kind: 'pending' })

  // Another text that a model reads is another tool: what was asked for before does not run as this one.
  kit.registry.replaceGroup('tickets', [close('Closes a ticket for good.')])
  await heard(2)
  const id = asked.kind === 'pending' ? asked.pending.approval_id : ''
  expect(await kit.app.showApproval(kit.operator(), { approval_id: id })).toMatchObject({
    stale: 'tickets.close was changed meanwhile',
  })

  kit.registry.replaceGroup('tickets', [])
  await heard(3)
  expect(await isListed(kit)).toBe(false)
  expect(await call()).toMatchObject({ kind: 'unknown' })
  expect(new Set(told)).toEqual(new Set(['tools.changed']))
})

test('an agent hears of a change that comes in the moment in which it begins to listen', async () => {
  await using kit = await createKit()
  await kit.agent('coder')
  const told: string[] = []
  using _listening = kit.app.subscribeEvents('coder', ({ type }) => told.push(type) > 0)
  kit.registry.replaceGroup('tickets', [close()])
  await until(() => told.length > 0)
  expect(told).toEqual(['tools.changed'])
})
