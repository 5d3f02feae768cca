import type { Question } from '@gatehouse/contract'
import { parseStored } from '../../domain/parse-stored.ts'
import type { Stores } from '../../ports/storage.ts'

/** A question that waits, as it is kept for the case that the service ends without a word. */
export type LeftQuestion = Pick<Question, 'id' | 'upstream' | 'agent'> & {
  /** Why it was withdrawn when the service was stopped; the next start knows it, and has nothing to record. */
  readonly reason?: string
}

type Meta = Pick<Stores, 'meta'>

/** Each node withdraws its own. */
const keyOf = (node: string): string => `upstream.questions.${node}`

export const readLeft = async ({ meta }: Meta, node: string): Promise<readonly LeftQuestion[]> => {
  const text = await meta.get(keyOf(node))
  return text ? parseStored<LeftQuestion[]>(text, `meta.${keyOf(node)}`) : []
}

export const keepLeft = async (
  { meta }: Meta,
  node: string,
  left: readonly LeftQuestion[],
): Promise<void> => meta.set(keyOf(node), JSON.stringify(left))
