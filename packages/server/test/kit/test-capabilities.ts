import { GatehouseError } from '@gatehouse/contract'
import { z } from 'zod'
import { defineCapability } from '../../src/capabilities/define.ts'
import type { Capability, CapabilityContext } from '../../src/ports/capability.ts'

type Ran = {
  readonly capability: string
  readonly agent: string
  readonly session_id: string | null
  readonly args: { readonly text?: string }
}

/** A call that has begun, to be ended by hand. */
export type WaitingCall = Pick<CapabilityContext, 'signal' | 'progress'> & {
  finish(text?: string): void
  fail(error: GatehouseError): void
}

const common = {
  title: 'Test',
  version: '1.0',
  when_to_use: 'In tests.',
  tier: 'autonomous',
  effect: 'none',
} as const
const text = z.strictObject({ text: z.string().default('') })

/** Capabilities for each way that a call may end, and what ran of them. */
export class TestCapabilities {
  readonly ran: Ran[] = []
  /** Calls of `test.wait` and of `test.wait_large` that have begun. */
  readonly waiting: WaitingCall[] = []

  readonly echo = defineCapability({
    ...common,
    name: 'test.echo',
    purpose: 'Gives back what it is given.',
    inputs: z.strictObject({ text: z.string(), extra: z.unknown().optional() }),
    outputs: z.object({ text: z.string() }),
    errors: ['FileNotFound'],
    result_bytes: (args) => 100 + Buffer.byteLength(args.text),
    text: (result) => result.text,
    run: async (ctx, args) => {
      this.#note('test.echo', ctx, args)
      return { text: args.text }
    },
  })

  readonly erase = defineCapability({
    ...common,
    name: 'test.erase',
    purpose: 'Deletes something.',
    inputs: z.strictObject({ path: z.string().default('/x') }),
    outputs: z.object({ erased: z.boolean() }),
    tier: 'approval_required',
    effect: 'immediate',
    side_effects: [{ what: 'a file is gone', reversible: false }],
    errors: [],
    run: async () => ({ erased: true }),
  })

  get all(): readonly Capability[] {
    return [
      this.echo,
      this.erase,
      this.#failing('test.fail', () => new GatehouseError('FileNotFound', { path: '/x' })),
      this.#failing('test.crash', () => new Error('SELECT secret FROM /srv/data/gatehouse.db')),
      this.#failing(
        'test.unrecorded',
        () => new GatehouseError('AuditUnavailable', { detail: 'the disk is full' }),
      ),
      ...['test.blocked', 'test.limited'].map((name) => this.#failing(name, () => null)),
      // Of long polls an agent has fewer places, and no line for more of them.
      this.#waiting('test.poll', { waits: true, result_bytes: () => 0 }),
      this.#waiting('test.wait', { result_bytes: () => 100 }),
      this.#waiting('test.wait_large', {}),
    ]
  }

  /** Nothing happens in them, or they fail. */
  #failing(name: string, cause: () => Error | null): Capability {
    return defineCapability({
      ...common,
      name,
      purpose: 'Ends in its way.',
      inputs: text,
      outputs: z.object({}),
      errors: [],
      run: async (ctx, args) => {
        this.#note(name, ctx, args)
        const error = cause()
        if (error) throw error
        return {}
      },
    })
  }

  #waiting(
    name: string,
    sized: Pick<Parameters<typeof defineCapability>[0], 'result_bytes' | 'waits'>,
  ): Capability {
    return defineCapability({
      ...common,
      ...sized,
      name,
      purpose: 'Waits until it is told to end.',
      inputs: text,
      outputs: z.object({ text: z.string() }),
      errors: [],
      run: (ctx, args) => {
        this.#note(name, ctx, args)
        return new Promise((resolve, reject) => {
          ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason as Error))
          this.waiting.push({
            signal: ctx.signal,
            progress: (...how) => ctx.progress(...how),
            finish: (said = 'done') => resolve({ text: said }),
            fail: reject,
          })
        })
      },
    })
  }

  #note(
    capability: string,
    { agent, session_id }: CapabilityContext,
    args: { readonly text?: string },
  ): void {
    this.ran.push({ capability, agent: agent.name, session_id, args })
  }
}

/** More tools than some clients show. */
export const manyCapabilities: readonly Capability[] = Array.from({ length: 130 }, (_, i) =>
  defineCapability({
    ...common,
    name: `test.many_${String(i).padStart(3, '0')}`,
    purpose: 'One of many.',
    inputs: z.strictObject({}),
    outputs: z.object({}),
    errors: [],
    run: async () => ({}),
  }),
)
