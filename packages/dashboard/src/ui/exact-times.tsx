import { useEffect, useId, useLayoutEffect, useRef, useState } from 'react'
import { bothTimes, timeControl, timeRow } from './time.tsx'

type Told = { readonly by: HTMLElement; readonly times: readonly HTMLTimeElement[] }

/** Times that are told with what has the focus: a time itself, or those of the row, link or button that a keyboard is on. */
function timesTold(focused: HTMLElement): readonly HTMLTimeElement[] {
  if (focused instanceof HTMLTimeElement) return [focused]
  if (!focused.matches(':focus-visible')) return []
  const place = focused.closest(timeRow) ?? focused
  return place.matches(`${timeRow}, ${timeControl}`) ? [...place.querySelectorAll('time')] : []
}

/** Name of a time in a table or among facts. */
const nameOf = (time: HTMLElement): string =>
  time.closest<HTMLElement>('td')?.dataset['label'] ??
  time.closest('dd')?.previousElementSibling?.textContent ??
  ''

const gap = 6

/** Below what has the focus, or above it where there is no room: never over it. */
function place(tip: HTMLElement, by: HTMLElement): void {
  const at = by.getBoundingClientRect()
  const { width, height } = tip.getBoundingClientRect()
  const below = at.bottom + gap
  const top = below + height <= innerHeight ? below : at.top - gap - height
  tip.style.top = `${Math.max(0, top)}px`
  tip.style.left = `${Math.max(gap, Math.min(at.left, innerWidth - width - gap))}px`
}

/** The tip stays where it belongs while rows are added and the page moves. */
function useFollowing(told: Told | null) {
  const tip = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const element = tip.current
    if (!told || !element) return
    // Above a dialog, too.
    element.showPopover()
    let frame = 0
    const follow = () => {
      place(element, told.by)
      frame = requestAnimationFrame(follow)
    }
    follow()
    return () => cancelAnimationFrame(frame)
  }, [told])
  return tip
}

/** Exact times of what a keyboard or a finger has put the focus on: a time, or the row or link that it stands in. */
export const ExactTimes = () => {
  const id = useId()
  const [told, setTold] = useState<Told | null>(null)
  const tip = useFollowing(told)
  useEffect(() => {
    const tell = (focused: EventTarget | null) => {
      const times = focused instanceof HTMLElement ? timesTold(focused) : []
      setTold(times.length > 0 ? { by: focused as HTMLElement, times } : null)
    }
    const focus = ({ target }: FocusEvent) => tell(target)
    const leave = () => setTold(null)
    const escape = ({ key }: KeyboardEvent) => {
      if (key === 'Escape') leave()
    }
    addEventListener('focusin', focus)
    addEventListener('focusout', leave)
    addEventListener('keydown', escape)
    // The focus may be somewhere already: this part of the page is loaded last.
    tell(document.activeElement)
    return () => {
      removeEventListener('focusin', focus)
      removeEventListener('focusout', leave)
      removeEventListener('keydown', escape)
    }
  }, [])
  useEffect(() => {
    const by = told?.by
    if (!by || by.hasAttribute('aria-describedby')) return
    by.setAttribute('aria-describedby', id)
    return () => by.removeAttribute('aria-describedby')
  }, [told, id])
  if (!told) return null
  return (
    <div
      ref={tip}
      id={id}
      role="tooltip"
      popover="manual"
      className="inset-auto m-0 max-w-[calc(100vw-0.75rem)] rounded-lg border border-line-strong bg-raised px-3 py-1.5 text-[0.867rem] text-ink shadow-lg"
    >
      {told.times.map((time) => (
        <p key={`${nameOf(time)}${time.dateTime}`} className="figure">
          {nameOf(time) !== '' && <span className="text-ink-soft">{nameOf(time)}: </span>}
          {bothTimes(time.dateTime)}
        </p>
      ))}
    </div>
  )
}
