import type { agentRoutes } from '@gatehouse/contract/routes/agents'
import type { auditRoutes } from '@gatehouse/contract/routes/audit'
import { expectTypeOf, test } from 'vitest'
import type { Handler, Handlers } from './handler.ts'

type Given<H> = H extends (op: never, app: never, input: infer I, caller: never) => unknown
  ? I
  : never

test('a table of handlers has one for each route', () => {
  const none = {}
  expectTypeOf(none).not.toExtend<Handlers<typeof agentRoutes>>()
})

test('a handler gets what its route takes, with the defaults filled in', () => {
  expectTypeOf<Given<Handler<typeof agentRoutes.rotateAgent>>>().toEqualTypeOf<
    { readonly name: string } & { readonly overlap_seconds: number }
  >()
  expectTypeOf<Given<Handler<typeof auditRoutes.queryAudit>>['limit']>().toEqualTypeOf<number>()
})

test('a handler returns the record of its route and no other', () => {
  type List = Handler<typeof agentRoutes.listAgents>
  expectTypeOf<() => { readonly agents: readonly never[] }>().toExtend<List>()
  expectTypeOf<() => { readonly names: readonly never[] }>().not.toExtend<List>()
  expectTypeOf<() => string>().not.toExtend<List>()
})
