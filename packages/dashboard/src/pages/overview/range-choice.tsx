import { figuresText as text } from '../../messages/figures.ts'
import { Choice } from '../../ui/choice.tsx'
import { type FigureRange, figureRanges } from './use-figures.ts'

/** Of how long figures are shown. */
export const RangeChoice = ({
  range,
  onChange,
}: {
  readonly range: FigureRange
  readonly onChange: (range: string) => void
}) => (
  <Choice
    label={text.range}
    value={range}
    options={figureRanges.map((value) => ({ value, text: text.ranges[value] }))}
    onChange={onChange}
  />
)
