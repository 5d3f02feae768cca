import type { Basics } from '../call/basics.ts'

/** `last_connected` is for people: a minute is close enough, and saves a write a call. */
const everyMs = 60_000

/** Notes when an agent last showed its token, whatever it speaks. */
export class SeenAgents {
  readonly #deps: Pick<Basics, 'storage' | 'clock' | 'log'>
  readonly #noted = new Map<string, number>()

  constructor(deps: Pick<Basics, 'storage' | 'clock' | 'log'>) {
    this.#deps = deps
  }

  note(agent: string): void {
    const { storage, clock, log } = this.#deps
    const nowMs = clock.now()
    if (nowMs - (this.#noted.get(agent) ?? -everyMs) < everyMs) return
    this.#noted.set(agent, nowMs)
    storage.agents.connected(agent, clock.wall()).catch((cause: unknown) => {
      this.#noted.delete(agent)
      log.warn({ err: cause, agent }, 'when an agent was last here could not be noted')
    })
  }
}
