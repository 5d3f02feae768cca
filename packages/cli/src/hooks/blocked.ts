import { asNextStep } from '../as-next-step.ts'
import type { DataPlaces } from '../data-places.ts'
import { usualDataDir } from '../data-places.ts'
import { escapeText } from '../escape-text.ts'
import { toFailure } from '../failure.ts'
import type { Io } from '../io.ts'
import { createNextStep } from '../next-step.ts'

/** Why a call was blocked although nobody decided against it, and what to do: for the model and the person. */
export function blockedReason(error: unknown, io: Io, places: DataPlaces): string {
  const { message, recovery } = toFailure(error)
  const next = createNextStep(io.program, () => places.dirs[0], usualDataDir(io.env))
  const [step] = recovery
  const todo = step === undefined ? '' : ` To fix it: ${asNextStep(step.action, next)}`
  return escapeText(`Gatehouse could not decide, so the call is blocked. ${message}${todo}`)
}
