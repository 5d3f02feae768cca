/** Name of an event for agents: the same from the moment it is to be made, wherever its resource lies. */
export const eventRef = (sha256: (text: string) => string, calendar: string, uid: string): string =>
  `event-${sha256(`${calendar}\n${uid}`).slice(0, 24)}`
