/**
 * @param file the database to store in
 * @returns a function that runs a turn of `steps` model requests, each except the last with one call, and returns the number of requests
 */
export type OpenPeer = (file: string) => (steps: number, onRequest: () => void) => Promise<number>
