import type { GateQuestion, GateQuestions, Gates } from '../../ports/gates.ts'

/**
 * Has every other gate process follow a change, and resolves when those that serve have. Raises what one of these raised: a
 * process that does not answer may still go by what was before. One that does not serve looks anew when it starts.
 */
export async function askOthers<Q extends GateQuestion>(
  gates: Gates | null,
  question: Q,
  given: GateQuestions[Q]['given'],
): Promise<void> {
  if (!gates) return
  await Promise.all(
    gates.others.map(async (index) => {
      try {
        await gates.ask(index, question, given)
      } catch (cause) {
        if (gates.serves(index)) throw cause
      }
    }),
  )
}
