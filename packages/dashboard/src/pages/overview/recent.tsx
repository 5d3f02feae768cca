import { Link } from '@tanstack/react-router'
import { overviewText as text } from '../../messages/overview.ts'
import { Section } from '../../ui/page.tsx'
import { EventRow } from '../activity/event-row.tsx'
import { useEvents } from '../activity/use-events.ts'

const shownMax = 8

/** The last things that happened, as they happen. */
export const Recent = () => {
  const { events } = useEvents()
  return (
    <Section
      title={text.recent}
      actions={
        <Link to="/activity" className="inline-block py-2.5 underline sm:py-1">
          {text.allActivity}
        </Link>
      }
    >
      <div className="card divide-y divide-line">
        {events.length === 0 && <p className="px-3 py-2.5 text-ink-soft">{text.nothingYet}</p>}
        {events.slice(0, shownMax).map((event) => (
          <EventRow key={event.id} event={event} />
        ))}
      </div>
    </Section>
  )
}
