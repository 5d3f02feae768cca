import { pagerText } from '../messages/pager.ts'
import { Button } from './button.tsx'
import { numberText } from './numbers.ts'

/** A part of a long list: where it stands, and the way on and back. */
export const Pager = ({
  offset,
  limit,
  total,
  onGo,
}: {
  readonly offset: number
  readonly limit: number
  readonly total: number
  readonly onGo: (offset: number) => void
}) => {
  if (total <= limit && offset === 0) return null
  const last = Math.min(offset + limit, total)
  return (
    <nav aria-label={pagerText.label} className="mt-3 flex flex-wrap items-center gap-2">
      <p className="figure grow text-ink-soft">
        {pagerText.range(
          numberText(Math.min(offset + 1, total)),
          numberText(last),
          numberText(total),
        )}
      </p>
      <Button disabled={offset === 0} onClick={() => onGo(Math.max(0, offset - limit))}>
        {pagerText.newer}
      </Button>
      <Button disabled={last >= total} onClick={() => onGo(offset + limit)}>
        {pagerText.older}
      </Button>
    </nav>
  )
}
