/** How much of a limit is used; the text beside it has the numbers. */
export const Meter = ({
  label,
  used,
  max,
}: {
  readonly label: string
  readonly used: number
  readonly max: number
}) => (
  <meter
    aria-label={label}
    min={0}
    max={max}
    high={max * 0.8}
    value={Math.min(used, max)}
    className="h-2 w-24 shrink-0"
  />
)
