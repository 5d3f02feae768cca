const paths = {
  overview: 'M4 13h6V4H4zM14 20h6v-9h-6zM4 20h6v-3H4zM14 7h6V4h-6z',
  approvals: 'M9 12l2 2 4-5M12 3l7 3v6c0 4-3 7-7 9-4-2-7-5-7-9V6z',
  activity: 'M3 12h4l3-8 4 16 3-8h4',
  agents: 'M7 9h10v9H7zM12 9V5M10 5h4M9.5 13h.01M14.5 13h.01M4 12v4M20 12v4',
  map: 'M5 4h4v4H5zM5 16h4v4H5zM15 10h4v4h-4zM9 6c4 0 2 6 6 6M9 18c4 0 2-6 6-6',
  audit: 'M6 3h9l4 4v14H6zM14 3v5h5M9 13h7M9 17h7',
  policy: 'M12 4v16M6 20h12M5 8h14M5 8l-2.500 6h5zM19 8l-2.500 6h5z',
  services: 'M4 7h16v5H4zM4 12h16v5H4zM7 9.500h.01M7 14.500h.01',
  state: 'M5 6c0-3 14-3 14 0s-14 3-14 0zM5 6v12c0 3 14 3 14 0V6M5 12c0 3 14 3 14 0',
  secrets: 'M15 4a5 5 0 1 1-4 8l-7 7v-3M4 19l3 1M16 8h.01',
  models: 'M12 3l8 4.500v9L12 21l-8-4.500v-9zM12 12l8-4.500M12 12v9M12 12L4 7.500',
  upstreams: 'M12 3v8M8 7l4-4 4 4M5 13h14v7H5zM8.500 16.500h.01M12 16.500h4',
  alerts: 'M12 4a6 6 0 0 1 6 6v4l2 3H4l2-3v-4a6 6 0 0 1 6-6zM10 20h4',
  settings:
    'M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM12 3v3M12 18v3M3 12h3M18 12h3M5.600 5.600l2.100 2.100M16.300 16.300l2.100 2.100M5.600 18.400l2.100-2.100M16.300 7.700l2.100-2.100',
  reference:
    'M5 4h6a2 2 0 0 1 2 2v14a2 2 0 0 0-2-2H5zM19 4h-4a2 2 0 0 0-2 2M19 4v14h-4a2 2 0 0 0-2 2',
  menu: 'M4 7h16M4 12h16M4 17h16',
  close: 'M6 6l12 12M18 6L6 18',
  filter: 'M4 5h16l-6 8v6l-4-2v-4z',
  search: 'M11 5a6 6 0 1 0 0 12 6 6 0 0 0 0-12zM15.500 15.500L20 20',
  check: 'M5 13l4 4L19 7',
  cross: 'M6 6l12 12M18 6L6 18',
  pause: 'M9 5v14M15 5v14',
  play: 'M8 5l11 7-11 7z',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  warning: 'M12 4l9 16H3zM12 10v5M12 17.500h.01',
  info: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 11v5M12 8h.01',
  clock: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 8v4l3 2',
  undo: 'M9 7L4 12l5 5M4 12h10a6 6 0 0 1 6 6',
  link: 'M9 15l6-6M10 6l2-2a4 4 0 0 1 6 6l-2 2M14 18l-2 2a4 4 0 0 1-6-6l2-2',
  chevron: 'M9 6l6 6-6 6',
  up: 'M6 15l6-6 6 6',
  down: 'M6 9l6 6 6-6',
  plus: 'M12 5v14M5 12h14',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 3v2M12 19v2M3 12h2M19 12h2M5.600 5.600L7 7M17 17l1.400 1.400M5.600 18.400L7 17M17 7l1.400-1.400',
  moon: 'M20 14a8 8 0 1 1-9.500-10 6.500 6.500 0 0 0 9.500 10z',
  person: 'M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM5 20c0-4 3-6 7-6s7 2 7 6',
  keyboard: 'M3 7h18v10H3zM7 10h.01M11 10h.01M15 10h.01M8 14h8',
} as const

export type IconName = keyof typeof paths

/** An outline of 24 by 24. Says nothing by itself: text beside it, or the label of its button, does. */
export const Icon = ({ name, size = 18 }: { readonly name: IconName; readonly size?: number }) => (
  <svg
    aria-hidden="true"
    width={size}
    height={size}
    viewBox="0 0 24 24"
    fill="none"
    stroke="currentColor"
    strokeWidth={name === 'more' ? 3 : 1.8}
    strokeLinecap="round"
    strokeLinejoin="round"
    className="shrink-0"
  >
    <path d={paths[name]} />
  </svg>
)
