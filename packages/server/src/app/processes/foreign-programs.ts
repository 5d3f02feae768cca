import { GatehouseError, type Process } from '@gatehouse/contract'
import type { GateQuestions, Gates } from '../../ports/gates.ts'

/** Questions about a program, which the gate process that runs or ran it answers, and all others with null. */
type AboutProgram = 'show program' | 'sample program' | 'program output' | 'end program'

const isGone = (cause: unknown): boolean =>
  cause instanceof GatehouseError && cause.type === 'StorageUnavailable'

/** Programs that the other gate processes of this node run. One of these that does not answer is as if it ran none. */
export class ForeignPrograms {
  readonly #gates: Gates | null

  constructor(gates: Gates | null) {
    this.#gates = gates
  }

  /** Null where nobody else has the program. Raises what the process that has it raised. */
  async ask<Q extends AboutProgram>(
    question: Q,
    given: GateQuestions[Q]['given'],
  ): Promise<GateQuestions[Q]['answer']> {
    const answers = await this.#askAll(question, given)
    return answers.find((answer) => answer !== null) ?? null
  }

  /** Programs that somebody waits for; the others are in the store. */
  async waited(filter: GateQuestions['waited programs']['given']): Promise<readonly Process[]> {
    const answers = await this.#askAll('waited programs', filter)
    return answers.flatMap((answer) => answer ?? [])
  }

  async #askAll<Q extends AboutProgram | 'waited programs'>(
    question: Q,
    given: GateQuestions[Q]['given'],
  ): Promise<readonly (GateQuestions[Q]['answer'] | null)[]> {
    const gates = this.#gates
    if (!gates) return []
    return await Promise.all(
      gates.others.map((index) =>
        gates.ask(index, question, given).catch((cause: unknown) => {
          if (isGone(cause)) return null
          throw cause
        }),
      ),
    )
  }
}
