/**
 * @param file the database to store in
 * @returns runs a turn of `steps` model requests, each but the last with one call; told of each request. Returns how many were made
 */
export type OpenPeer = (file: string) => (steps: number, onRequest: () => void) => Promise<number>
