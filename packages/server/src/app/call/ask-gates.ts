import type { GateQuestion, GateQuestions, Gates } from '../../ports/gates.ts'

/**
 * Has every other gate process follow a change, and resolves when those that serve have. Raises what one of these raised: a
 * process that does not answer may still go by what was before. One that does not serve looks anew when it starts, and gives no
 * answer.
 */
export async function askOthers<Q extends GateQuestion>(
  gates: Gates | null,
  question: Q,
  given: GateQuestions[Q]['given'],
): Promise<readonly GateQuestions[Q]['answer'][]> {
  const answers = (gates?.others ?? []).map(async (index) => {
    try {
      return [await gates?.ask(index, question, given)] as GateQuestions[Q]['answer'][]
    } catch (cause) {
      if (gates?.serves(index)) throw cause
      return []
    }
  })
  return (await Promise.all(answers)).flat()
}
