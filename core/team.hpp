// Threads that do the same work together and wait for each other between its phases.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace keypose {

class Team {
public:
    // `keep_going` is asked now and then, by the calling thread alone, whether to go on; it may be null.
    Team(unsigned wanted, bool (*keep_going)()) : wanted_(wanted), keep_going_(keep_going) {}

    // Calls work(thread) on every thread; true if nobody stopped it. An exception of any thread stops all and is
    // thrown again here. Where the system refuses a thread, the team is smaller.
    template <class Work>
    bool run(Work work) {
        const auto guarded = [this, &work](unsigned thread) {
            try {
                work(thread);
            } catch (...) {
                std::lock_guard<std::mutex> lock(mutex_);
                if (!failure_) failure_ = std::current_exception();
                stop_locked();
            }
        };
        std::vector<std::thread> others;
        others.reserve(wanted_);
        for (unsigned n = 1; n < wanted_; ++n) {
            try {
                others.emplace_back([this, &guarded, n] {
                    wait_for_size();
                    guarded(n);
                });
            } catch (...) {  // no thread, or no memory for one
                break;
            }
        }
        {
            std::lock_guard<std::mutex> lock(mutex_);
            size_ = static_cast<unsigned>(others.size()) + 1;
        }
        all_here_.notify_all();
        guarded(0);
        for (auto& other : others) other.join();
        if (failure_) std::rethrow_exception(failure_);
        return !stopped_;
    }

    // Waits until every thread is here; false once somebody stopped the work.
    bool meet() {
        if (size_ == 1) return !stopped_;
        std::unique_lock<std::mutex> lock(mutex_);
        const std::size_t round = round_;
        if (++waiting_ == size_) {
            waiting_ = 0;
            ++round_;
            all_here_.notify_all();
        } else {
            all_here_.wait(lock, [&] { return round != round_ || stopped_; });
        }
        return !stopped_;
    }

    // Called in every loop: false once the work is to end.
    bool goes_on(unsigned thread) {
        if (thread == 0 && keep_going_) {
            const auto now = std::chrono::steady_clock::now();
            if (now >= next_question_) {
                next_question_ = now + std::chrono::milliseconds(50);
                if (!keep_going_()) {
                    std::lock_guard<std::mutex> lock(mutex_);
                    stop_locked();
                }
            }
        }
        return !stopped_;
    }

private:
    void wait_for_size() {
        std::unique_lock<std::mutex> lock(mutex_);
        all_here_.wait(lock, [&] { return size_ > 0; });
    }
    void stop_locked() {
        stopped_ = true;
        all_here_.notify_all();
    }

    const unsigned wanted_;
    bool (*const keep_going_)();
    unsigned size_ = 0, waiting_ = 0;
    std::size_t round_ = 0;
    std::atomic<bool> stopped_{false};
    std::exception_ptr failure_;
    std::chrono::steady_clock::time_point next_question_ = std::chrono::steady_clock::now();
    std::mutex mutex_;
    std::condition_variable all_here_;
};

}  // namespace keypose
