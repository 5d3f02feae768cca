import { mapText as text } from '../../messages/map.ts'
import { Icon } from '../../ui/icon.tsx'
import { numberText } from '../../ui/numbers.ts'
import type { Numbers } from './house-map.ts'

/** `30 calls, 2 denied, 1 waited for a person`. */
export const numbersText = ({ calls, denied, held }: Numbers): string =>
  [
    text.calls(calls),
    ...(denied > 0 ? [text.denied(numberText(denied))] : []),
    ...(held > 0 ? [text.held(numberText(held))] : []),
  ].join(', ')

/** The marks of what did not just run: a cross for denied calls, a clock for those that waited. */
export const Marks = ({ denied, held }: Numbers) => (
  <>
    {denied > 0 && (
      <span className="text-bad">
        <Icon name="cross" size={13} />
      </span>
    )}
    {held > 0 && (
      <span className="text-warn">
        <Icon name="clock" size={13} />
      </span>
    )}
  </>
)
